import { type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { chat } from '../chat/index.ts'
import { choicesOf, promptsOf } from './facts.ts'

/* Rules for requests and whole answers that the published schema cannot express. */

export function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  if (body['prompt'] === undefined) violations.add('prompt', 'The request has no prompt.')
  const bestOf = numberOf(body['best_of'])
  if (bestOf !== undefined && bestOf < (numberOf(body['n']) ?? 1)) violations.add('best-of', `best_of is ${bestOf}.`)
  if (bestOf !== undefined && bestOf > 1 && body['stream'] === true) violations.add('best-of', 'best_of is streamed.')
  return violations.list
}

const LOGPROB_LISTS = ['tokens', 'token_logprobs', 'top_logprobs', 'text_offset'] as const

function logprobFaults(choice: JsonObject, violations: Violations): void {
  const logprobs = objectOf(choice['logprobs'])
  const lengths = LOGPROB_LISTS.flatMap(name => (Array.isArray(logprobs[name]) ? listOf(logprobs[name]).length : []))
  if (new Set(lengths).size > 1) violations.add('logprobs', `The lists have ${lengths.join(', ')} entries.`)
}

export function answerLint(body: JsonObject, request: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const prompts = promptsOf(request)
  const each = Math.max(1, numberOf(request['n']) ?? 1)
  const choices = choicesOf(body)
  const indexes = choices.map(({ index }) => index)
  if (choices.length !== prompts.length * each || indexes.some((index, position) => index !== position))
    violations.add(
      'choices',
      `${prompts.length} prompts have choices with the indexes ${JSON.stringify(indexes).slice(0, 200)}.`,
    )
  for (const [position, choice] of choices.entries()) {
    if (typeof choice['finish_reason'] !== 'string')
      violations.add('finish-present', `Choice ${position} has no finish_reason.`)
    logprobFaults(choice, violations)
    const prompt = prompts[Math.floor(position / each)]
    if (request['echo'] === true && typeof prompt === 'string' && !textOf(choice['text'])?.startsWith(prompt))
      violations.add('echo', `Choice ${position} does not begin with its prompt.`)
  }
  const usage = chat.lint.answer({ usage: body['usage'] ?? null }, {})
  for (const { rule, detail } of usage) if (rule === 'usage-adds-up') violations.add(rule, detail)
  return violations.list
}

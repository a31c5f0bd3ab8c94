import { type JsonObject, listOf, numberOf, objectOf, parseJson, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { CALLS, RESULTS } from './items.ts'

/* Rules for requests and whole answers that the published schema cannot express. */

/** Returns the fault in a function call's arguments, if any. */
export function argumentFault({ type, arguments: args }: JsonObject): string | undefined {
  if (type !== 'function_call') return undefined
  if (typeof args !== 'string') return `Arguments are ${JSON.stringify(args)}.`
  return args !== '' && parseJson(args) === undefined ? `The arguments are not JSON: ${args.slice(0, 100)}` : undefined
}

/** Value of `include` that requests log probabilities (docs/wire/responses.md#request). */
const LOGPROBS = 'message.output_text.logprobs'

/** Reports results without a call, calls without a result, and reasoning that is not followed by its item. */
export function requestLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const input = body['input']
  const isContinued = body['previous_response_id'] != null || body['conversation'] != null
  const items = listOf(input).map(objectOf)
  if (!isContinued && (input === undefined || input === '' || (typeof input !== 'string' && items.length === 0)))
    violations.add('input-present', 'The request has no input.')
  if ((numberOf(body['top_logprobs']) ?? 0) > 0 && !listOf(body['include']).includes(LOGPROBS))
    violations.add('logprobs-included', `The request has top_logprobs, but does not include ${LOGPROBS}.`)
  const open = new Set<string>()
  for (const [index, item] of items.entries()) {
    const type = String(item['type'])
    const id = textOf(item['call_id']) ?? ''
    const fault = argumentFault(item)
    if (fault !== undefined) violations.add('arguments-are-text', `Item ${index}: ${fault}`)
    if (CALLS.has(type)) open.add(id)
    else if (RESULTS.has(type) && !open.delete(id) && !isContinued)
      violations.add('results-paired', `Item ${index} answers ${JSON.stringify(id)}, which was not called.`)
    const next = items[index + 1]
    if (type === 'reasoning' && (next === undefined || RESULTS.has(String(next['type'])) || next['role'] === 'user'))
      violations.add('reasoning-followed', `Item ${index} is reasoning, but no item of the same turn follows.`)
  }
  if (open.size > 0) violations.add('results-paired', `No result answers ${[...open].join(', ')}.`)
  return violations.list
}

/** Describes the fault of `total_tokens`, if it has one. */
export function totalFault(usage: JsonObject): string | undefined {
  const [input, output, total] = ['input_tokens', 'output_tokens', 'total_tokens'].map(one => numberOf(usage[one]))
  if (total === undefined || (input ?? 0) + (output ?? 0) === total) return undefined
  return `total_tokens is ${total} instead of ${input} + ${output}.`
}

export function answerLint(body: JsonObject): readonly Violation[] {
  const violations = new Violations()
  const items = listOf(body['output']).map(objectOf)
  const calls = items.filter(({ type }) => CALLS.has(String(type)))
  const ids = calls.map(call => textOf(call['call_id']) || undefined)
  if (ids.includes(undefined) || new Set(ids).size < ids.length)
    violations.add('call-has-id', `The ids of the calls are ${JSON.stringify(ids)}`)
  for (const call of calls) {
    const fault = argumentFault(call)
    if (fault !== undefined && call['status'] !== 'incomplete') violations.add('arguments-are-text', fault)
  }
  const { status } = body
  if (typeof status !== 'string') violations.add('status', `The status is ${JSON.stringify(status)}.`)
  if (status === 'incomplete' && !textOf(objectOf(body['incomplete_details'])['reason']))
    violations.add('status', 'An incomplete response has no reason.')
  const totals = totalFault(objectOf(body['usage']))
  if (totals !== undefined) violations.add('usage-adds-up', totals)
  return violations.list
}

import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Candidate, CanonicalResult, Finish, FinishReason } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyObjects, anyText, defined, rest, spelling } from '../fields.ts'
import { readHead } from '../openai-answer.ts'
import { readInnerError } from './error.ts'
import { readLogprobs } from './logprobs.ts'
import { FORMAT } from './prompt.ts'
import { readUsage } from './usage.ts'

/** A whole answer of a completions upstream (FORMATS §3); an error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer): CanonicalResult {
  if (!Array.isArray(body['choices']))
    throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const usage = anyObject(body['usage'])
  return {
    ...readHead(body),
    candidates: anyObjects(body['choices']).map(readChoice),
    ...defined({ usage: usage && readUsage(usage) }),
    ...rest(FORMAT, body, TAKEN, spellHead(body)),
  }
}

const NOT_AN_ANSWER = {
  kind: 'upstream-failed',
  message: 'The upstream sent something that is no text completion.',
} as const

const TAKEN = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier'])

/** That it was a completion in this format is told here; so is a name of the object that is not the usual one. */
export const spellHead = (wire: JsonObject): JsonObject => ({
  own: true,
  ...spelling({ object: wire['object'] === 'text_completion' ? undefined : (wire['object'] ?? 'absent') }),
})

const CHOICE = new Set(['index', 'text', 'finish_reason', 'logprobs'])

function readChoice(choice: JsonObject, index: number): Candidate {
  const said = anyText(choice['text'])
  const logprobs = readLogprobs(choice['logprobs'])
  const finish = readFinish(choice['finish_reason'])
  return {
    content: said === undefined ? [] : [{ type: 'text', text: said }],
    ...defined({ finish, logprobs }),
    ...rest(
      FORMAT,
      choice,
      CHOICE,
      spelling({
        index: choice['index'] === index ? undefined : (choice['index'] ?? 'absent'),
        text: said === undefined ? (choice['text'] ?? 'absent') : undefined,
        finish: choice['finish_reason'] ?? (choice['finish_reason'] === undefined ? 'absent' : undefined),
        logprobs: choice['logprobs'] ?? (choice['logprobs'] === undefined ? 'absent' : undefined),
      }),
    ),
  }
}

const FINISHES: { readonly [word: string]: FinishReason } = {
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  content_filter: 'refused',
  error: 'error',
}

/** Why a completion ended; undefined where nobody says. */
export function readFinish(word: Json | undefined): Finish | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  return { reason: Object.hasOwn(FINISHES, word) ? FINISHES[word]! : 'other', raw: word }
}

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

/** Marks the answer as this format's own; an object name that is not the usual one is kept, too. */
export const spellHead = (wire: JsonObject): JsonObject => ({
  own: true,
  ...spelling({ object: wire['object'] === 'text_completion' ? undefined : (wire['object'] ?? 'absent') }),
})

const CHOICE = new Set(['index', 'text', 'finish_reason', 'logprobs'])

function readChoice(choice: JsonObject, index: number): Candidate {
  const text = anyText(choice['text'])
  const logprobs = readLogprobs(choice['logprobs'])
  const finish = readFinish(choice['finish_reason'])
  return {
    content: text === undefined ? [] : [{ type: 'text', text }],
    ...defined({ finish, logprobs }),
    ...rest(
      FORMAT,
      choice,
      CHOICE,
      spelling({
        index: choice['index'] === index ? undefined : (choice['index'] ?? 'absent'),
        text: text === undefined ? (choice['text'] ?? 'absent') : undefined,
        finish: choice['finish_reason'] ?? (choice['finish_reason'] === undefined ? 'absent' : undefined),
        logprobs: choice['logprobs'] ?? (choice['logprobs'] === undefined ? 'absent' : undefined),
      }),
    ),
  }
}

const FINISHES: { readonly [value: string]: FinishReason } = {
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  content_filter: 'refused',
  error: 'error',
}

/** Why a completion ended; undefined where no reason is given. */
export function readFinish(value: Json | undefined): Finish | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return { reason: Object.hasOwn(FINISHES, value) ? FINISHES[value]! : 'other', raw: value }
}

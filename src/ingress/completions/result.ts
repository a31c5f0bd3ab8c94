import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Finish, TokenLogprob } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/openai-error.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, definedIfAny, extrasOf, withDefined } from '../fields.ts'
import { finishReasonOf, readHead, readStop, STOP_REASON } from '../openai-answer.ts'
import { readUsage } from '../usage/openai.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads a whole answer of a completions upstream (docs/wire/completions.md#response).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['choices']))
    throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const usage = anyObject(body['usage'])
  const candidates = anyObjects(body['choices']).map(choice => readChoice(choice, request))
  const { extras } = extrasOf(FORMAT, body, KNOWN_FIELDS)
  const head = { ...readHead(body), candidates, ...NATIVE }
  return withWireSource(withDefined(head, { usage: usage && readUsage(FORMAT, usage), extras }), FORMAT, body)
}

const NOT_AN_ANSWER = upstreamFailed("The upstream's answer is not a text completion.")

const KNOWN_FIELDS = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier'])

/** Mark of an answer in this format, which already contains the prompt if the caller requested `echo`. */
export const NATIVE = { spelling: { [FORMAT]: { own: true } } }

/** The known fields of a choice. */
export const CHOICE: ReadonlySet<string> = new Set(['index', 'text', 'finish_reason', 'logprobs'])
const CHOICE_WITH_STOP = new Set([...CHOICE, STOP_REASON])

function readChoice(choice: JsonObject, request: CanonicalRequest): Candidate {
  const text = anyText(choice['text'])
  const logprobs = readLogprobs(choice['logprobs'])
  const finish = readFinish(choice['finish_reason'])
  const stop = readStop(finish, choice[STOP_REASON], FORMAT, request)
  return {
    content: text === undefined ? [] : [{ type: 'text', text }],
    ...defined({ finish, logprobs }),
    ...stop,
    ...extrasOf(FORMAT, choice, stop === undefined ? CHOICE : CHOICE_WITH_STOP),
  }
}

/** Reads the finish reason. Returns undefined if none is given. */
export function readFinish(value: Json | undefined): Finish | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return { reason: finishReasonOf(value), raw: value }
}

/**
 * Reads the four parallel lists of a choice's log probabilities (docs/wire/completions.md#logprobs). Tokens without a
 * log probability, such as the first of an echoed prompt, are left out. Alternatives are sorted by likelihood, highest
 * first.
 */
export function readLogprobs(wire: Json | undefined): readonly TokenLogprob[] | undefined {
  if (!isObject(wire) || !Array.isArray(wire['tokens'])) return undefined
  const { tokens } = wire
  return tokens.flatMap((token, index) => {
    const logprob = anyNumber(at(wire, 'token_logprobs', index))
    if (logprob === undefined) return []
    return [
      {
        token: anyText(token) ?? '',
        logprob,
        ...alternativesOf(at(wire, 'top_logprobs', index)),
        ...offset(wire, index),
      },
    ]
  })
}

function at(wire: JsonObject, field: string, index: number): Json | undefined {
  const values = wire[field]
  return Array.isArray(values) ? (values[index] as Json) : undefined
}

function alternativesOf(wire: Json | undefined): Pick<TokenLogprob, 'top'> {
  if (!isObject(wire)) return {}
  const alternatives = Object.entries(wire).flatMap(([token, logprob]) =>
    typeof logprob === 'number' ? [{ token, logprob }] : [],
  )
  return { top: alternatives.sort((a, b) => b.logprob - a.logprob) }
}

/** Returns the token's offset in the text, as reported by the upstream. */
function offset(wire: JsonObject, index: number): Pick<TokenLogprob, 'spelling'> {
  const offsetSpelling = definedIfAny({ offset: anyNumber(at(wire, 'text_offset', index)) })
  return offsetSpelling === undefined ? {} : { spelling: { [FORMAT]: offsetSpelling } }
}

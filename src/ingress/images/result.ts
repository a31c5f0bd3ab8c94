import { GatewayError } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/exchange.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, rest, spelling } from '../fields.ts'
import { readMade } from './answer.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './pictures.ts'
import { readUsage } from './usage.ts'

const TAKEN = new Set(['created', 'data', 'output_format', 'usage'])

/** A whole answer (FORMATS §10): a candidate for each picture. An error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer, asked: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['data'])) throw new GatewayError(body['error'] == null ? NOT_AN_ANSWER : readInnerError(body))
  const created = anyNumber(body['created'])
  const word = anyText(body['output_format'])
  const usage = anyObject(body['usage'])
  const spelt = {
    output_format: word ?? 'absent',
    created: body['created'] === undefined ? 'absent' : undefined,
  }
  return {
    ...defined({ createdAt: created }),
    candidates: anyObjects(body['data']).map(item => readItem(item, word, asked)),
    ...defined({ usage: usage && readUsage(usage) }),
    ...rest(FORMAT, body, TAKEN, spelling(spelt), misread(body)),
  }
}

const NOT_AN_ANSWER = { kind: 'upstream-failed', message: 'The upstream sent something that is no picture.' } as const

const CHECKS: { readonly [field: string]: (value: unknown) => boolean } = {
  created: value => typeof value === 'number',
  output_format: value => typeof value === 'string',
  usage: isObject,
}

/** Known fields of a wrong type are kept as they are. */
const misread = (body: JsonObject): string[] =>
  Object.keys(CHECKS).filter(field => body[field] != null && !CHECKS[field]!(body[field]))

function readItem(wire: JsonObject, word: string | undefined, asked: CanonicalRequest): Candidate {
  const made = readMade(wire, word, asked)
  const node = rest(FORMAT, wire, new Set(made === undefined ? [] : [made.field]))
  return { content: made === undefined ? [] : [made.part], finish: { reason: 'stop' }, ...node }
}

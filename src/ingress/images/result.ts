import { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, rest, spelling } from '../fields.ts'
import { LOOKS, readMade, misread as unread } from '../media/image-settings.ts'
import { type Beside, readAnswered } from './answer.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './input-images.ts'
import { readUsage } from './usage.ts'

const TAKEN = new Set(['created', 'data', 'output_format', 'usage', ...LOOKS])

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
  const looks = readMade(body, LOOKS)
  const candidates = anyObjects(body['data']).map(item => readItem(item, { word, made: looks }, asked))
  // Looks are told of pictures: where there is none, nobody else tells them.
  const untold = candidates.some(({ content }) => content.length > 0) ? unread(body, LOOKS) : LOOKS
  return {
    ...defined({ createdAt: created }),
    candidates,
    ...defined({ usage: usage && readUsage(usage) }),
    ...rest(FORMAT, body, TAKEN, spelling(spelt), [...misread(body), ...untold]),
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

/** What is told of one picture, beside the looks of all. */
const PROMPT = ['revised_prompt'] as const

function readItem(wire: JsonObject, { word, made: looks }: Beside, asked: CanonicalRequest): Candidate {
  const prompt = readMade(wire, PROMPT)
  const made = looks === undefined && prompt === undefined ? undefined : { ...looks, ...prompt }
  const picture = readAnswered(wire, { word, made }, asked)
  const taken = picture === undefined ? [] : [picture.field, ...PROMPT]
  const node = rest(FORMAT, wire, new Set(taken), undefined, unread(wire, PROMPT))
  return { content: picture === undefined ? [] : [picture.part], finish: { reason: 'stop' }, ...node }
}

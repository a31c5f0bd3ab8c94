import { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, rest, spelling } from '../fields.ts'
import { readMade, SETTINGS, misread as unread } from '../media/image-settings.ts'
import { type Context, readAnswered } from './answer.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './input-images.ts'
import { readUsage } from './usage.ts'

const TAKEN = new Set(['created', 'data', 'output_format', 'usage', ...SETTINGS])

/** A whole answer (FORMATS §10): a candidate for each image. An error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['data'])) throw new GatewayError(body['error'] == null ? NOT_AN_ANSWER : readInnerError(body))
  const created = anyNumber(body['created'])
  const outputFormat = anyText(body['output_format'])
  const usage = anyObject(body['usage'])
  const spelt = {
    output_format: outputFormat ?? 'absent',
    created: body['created'] === undefined ? 'absent' : undefined,
  }
  const settings = readMade(body, SETTINGS)
  const candidates = anyObjects(body['data']).map(item => readItem(item, { outputFormat, made: settings }, request))
  // Settings belong to images: without any, they become extras.
  const unusedSettings = candidates.some(({ content }) => content.length > 0) ? unread(body, SETTINGS) : SETTINGS
  return {
    ...defined({ createdAt: created }),
    candidates,
    ...defined({ usage: usage && readUsage(usage) }),
    ...rest(FORMAT, body, TAKEN, spelling(spelt), [...misread(body), ...unusedSettings]),
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

/** Fields of one image, beside the settings of all. */
const PROMPT = ['revised_prompt'] as const

function readItem(wire: JsonObject, { outputFormat, made: settings }: Context, request: CanonicalRequest): Candidate {
  const prompt = readMade(wire, PROMPT)
  const made = settings === undefined && prompt === undefined ? undefined : { ...settings, ...prompt }
  const picture = readAnswered(wire, { outputFormat, made }, request)
  const taken = picture === undefined ? [] : [picture.field, ...PROMPT]
  const node = rest(FORMAT, wire, new Set(taken), undefined, unread(wire, PROMPT))
  return { content: picture === undefined ? [] : [picture.part], finish: { reason: 'stop' }, ...node }
}

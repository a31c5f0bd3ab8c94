import type { Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { readFrom } from '../../canonical/origin.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyObjects, anyText, defined, left, WrongType, withDefined } from '../fields.ts'
import { readBlock } from './content.ts'
import { readInnerError } from './error.ts'
import { readStop, STOP_FIELDS } from './finish.ts'
import { readTier, readUsage } from './usage.ts'

const FORMAT = 'messages'

const TAKEN = new Set<string>([...['id', 'type', 'role', 'model', 'content', 'usage'], ...STOP_FIELDS])

/** A whole answer of a messages upstream (FORMATS §6); an error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer): CanonicalResult {
  const wire = body['content'] ?? (body['type'] === 'message' ? [] : undefined)
  if (body['type'] === 'error' || (!Array.isArray(wire) && typeof wire !== 'string'))
    throw new GatewayError(body['error'] == null ? NOT_AN_ANSWER : readInnerError(body))
  const content = readAnswer(wire)
  const { refusal, ...stop } = readStop(
    body,
    content.some(part => part.type === 'tool-call'),
  )
  const usage = anyObject(body['usage'])
  const candidates = [{ content: refusal === undefined ? content : [...content, refusal], ...stop }]
  const { extras } = left(FORMAT, body, TAKEN)
  const others = { usage: usage && readUsage(usage), serviceTier: readTier(usage), extras }
  return readFrom(withDefined({ ...readHead(body), candidates }, others), FORMAT, body)
}

const NOT_AN_ANSWER = { kind: 'upstream-failed', message: 'The upstream sent something that is no message.' } as const

export const readHead = (wire: JsonObject) => defined({ id: anyText(wire['id']), model: anyText(wire['model']) })

/** Some upstreams write an answer of one text as a string. */
const readAnswer = (wire: Json): Part[] =>
  typeof wire === 'string' ? [{ type: 'text', text: wire }] : anyObjects(wire).map(leniently)

/** A malformed block is kept as it is. */
export function leniently(wire: JsonObject): Part {
  try {
    return readBlock(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType && isObject(wire)) return { type: 'opaque', format: FORMAT, value: wire }
    throw thrown
  }
}

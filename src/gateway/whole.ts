import { GatewayError } from '../canonical/error.ts'
import type { RawBody } from '../canonical/exchange.ts'
import { fold } from '../canonical/fold.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { type Answer, flat, forwardable, single } from '../channel.ts'
import { withoutMark } from '../ingress/mark.ts'
import type { Reader } from '../ingress/reader.ts'
import { fitting } from './fitting.ts'
import type { Prepared } from './prepare.ts'
import type { Answered } from './told.ts'
import { eventsOf } from './unasked.ts'

/** Bytes a whole answer may have: a few large pictures in base64. */
export const LARGEST = 128 * 1024 * 1024

/**
 * An upstream's answer as one result, also where it streams unasked.
 *
 * @throws GatewayError where it broke off, is no answer of its format, or is nothing but an error.
 */
export async function readWhole(
  answer: Answer,
  reader: Reader,
  { asked, losses, restorer, native }: Prepared,
): Promise<Answered> {
  const raw = fitting(await resultOf(answer, reader, asked, native), asked, native)
  return {
    result: restorer?.result(raw) ?? raw,
    losses,
    headers: native ? forwardable(answer.headers) : {},
  }
}

/** As `readWhole`, before what was renamed has its own name again. */
export async function resultOf(
  answer: Answer,
  reader: Reader,
  asked: CanonicalRequest,
  native = false,
): Promise<CanonicalResult> {
  const type = single(answer.headers['content-type'])
  const head = { status: answer.status, headers: flat(answer.headers) }
  if (type.startsWith('text/event-stream')) {
    if (reader.events === undefined) throw UNASKED_STREAM
    return sound(fold(await eventsOf(answer, reader.events(asked), LARGEST)), true)
  }
  if (reader.raw === true && !type.includes('json'))
    return reader.result!({ ...head, body: {}, raw: await rawBody(answer, type) }, asked)
  const text = await answer.text(LARGEST)
  const bare = reader.raw === true ? stringIn(text) : undefined
  if (bare !== undefined) return reader.result!({ ...head, body: {}, raw: { mediaType: '', text: bare } }, asked)
  return sound(reader.result!({ ...head, body: bodyIn(text, native ? reader.parse : undefined) }, asked), false)
}

/** A text that is all of a JSON document: how some servers answer where a mere text is asked for. */
function stringIn(text: string): string | undefined {
  if (!/^\s*"/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** An answer that is an error and nothing else is none. */
function sound(result: CanonicalResult, streamed: boolean): CanonicalResult {
  if (result.error !== undefined && (streamed || result.candidates.length === 0)) throw new GatewayError(result.error)
  return result
}

const UNASKED_STREAM = new GatewayError({
  kind: 'upstream-failed',
  message: 'The upstream sent a stream where there are none.',
})

/** Subtitles are text, too, whatever their type says. */
const TEXTUAL = /^$|^text\/|^application\/x-subrip\b/i

async function rawBody(answer: Answer, mediaType: string): Promise<RawBody> {
  return TEXTUAL.test(mediaType)
    ? { mediaType, text: await answer.text(LARGEST) }
    : { mediaType, bytes: answer.bytes() }
}

function bodyIn(text: string, parse: Reader['parse'] = parseObject): JsonObject {
  const body = parse(withoutMark(text))
  if (body !== undefined) return body
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered something that is not JSON.' })
}

import { peeked } from '../canonical/bytes.ts'
import { GatewayError } from '../canonical/error.ts'
import { fold } from '../canonical/fold.ts'
import { sniffed } from '../canonical/media/sniff.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { drain } from '../canonical/transducer.ts'
import type { RawBody, WireEvent } from '../canonical/wire.ts'
import { type Answer, flat, single } from '../channel/index.ts'
import type { Reader } from '../ingress/reader.ts'
import { withoutByteOrderMark } from '../ingress/transport/byte-order-mark.ts'
import { checkedResult } from './check-result.ts'
import { collectStream } from './collect-stream.ts'
import { publicHeaders } from './scrub.ts'
import type { Sent } from './send.ts'
import { shapeOf } from './shape.ts'
import type { Answered } from './types.ts'

/** Bytes a whole answer may have: a few large pictures in base64. */
export const LARGEST = 128 * 1024 * 1024

/**
 * An upstream's answer as one result, also where it streams although that was not requested.
 *
 * @throws GatewayError where it broke off, is no answer of its format, or is nothing but an error.
 */
export async function readResult({ attempt, prepared, answer, reader }: Sent): Promise<Answered> {
  const { request, losses, restorer, native } = prepared
  const raw = checkedResult(await readWireResult(answer, reader, request, native), request, native)
  return {
    result: restorer?.result(raw) ?? raw,
    losses,
    headers: native ? publicHeaders(answer.headers, attempt.candidate, attempt.request.model) : {},
  }
}

/** As `readResult`, with tools under the names the upstream was sent. */
export async function readWireResult(
  answer: Answer,
  reader: Reader,
  request: CanonicalRequest,
  native = false,
): Promise<CanonicalResult> {
  const head = { status: answer.status, headers: flat(answer.headers) }
  const shape = shapeOf(answer, reader, request.stream)
  if (shape === 'raw') return reader.result!({ ...head, body: {}, raw: await rawBody(answer) }, request)
  if (shape === 'events') return sound(fold(await collectStream(answer, reader.events!(request), LARGEST)), true)
  const text = withoutByteOrderMark(await answer.text(LARGEST))
  const bare = reader.raw === true ? stringIn(text) : undefined
  if (bare !== undefined) return reader.result!({ ...head, body: {}, raw: { mediaType: '', text: bare } }, request)
  const listed = reader.events === undefined ? undefined : listedIn(text)
  if (listed !== undefined) return sound(fold(drain(reader.events!(request), listed)), true)
  const body = bodyIn(text, native ? reader.parse : undefined)
  return sound(reader.result!({ ...head, body }, request), false)
}

/** A JSON document that is one string: how some servers answer a request for plain text. */
function stringIn(text: string): string | undefined {
  if (!/^\s*"/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** The events of a stream that came as one JSON list, as Google streams without `alt=sse`. */
function listedIn(text: string): readonly WireEvent[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined
  const list = parseObject(`{"list":${text}}`)?.['list']
  return Array.isArray(list) ? list.map(item => ({ data: JSON.stringify(item) })) : undefined
}

/** Throws the error of an answer that holds nothing else. */
function sound(result: CanonicalResult, streamed: boolean): CanonicalResult {
  if (result.error !== undefined && (streamed || result.candidates.length === 0)) throw new GatewayError(result.error)
  return result
}

/** Subtitles are text, too. */
const TEXTUAL = /^$|^text\/|^application\/x-subrip\b/i

/** A media type that leaves the kind of file to its first bytes. */
const MERE_BYTES = /^application\/octet-stream\b/i

async function rawBody(answer: Answer): Promise<RawBody> {
  const mediaType = single(answer.headers['content-type'])
  if (TEXTUAL.test(mediaType)) return { mediaType, text: await answer.text(LARGEST) }
  if (!MERE_BYTES.test(mediaType)) return { mediaType, bytes: answer.bytes() }
  const { head, whole } = await peeked(answer.bytes())
  return { mediaType: sniffed(head) ?? mediaType, bytes: whole }
}

function bodyIn(text: string, parse: Reader['parse'] = parseObject): JsonObject {
  const body = parse(text)
  if (body !== undefined) return body
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered something that is not JSON.' })
}

import type { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import zlib from 'node:zlib'
import { rowOf } from '../../canonical/maps.ts'
import { parseObject } from '../../canonical/node.ts'
import { textIn } from './body.ts'
import { frameOf, framesIn, isFramed, withHeaderTexts } from './event-frames.ts'
import { eventRanges } from './event-ranges.ts'
import { MAX_RECORDED, recordedSize } from './recording.ts'
import { redactedEvents } from './redact-events.ts'
import type { Redaction } from './redaction.ts'
import { applyEdits, type Edit } from './splice.ts'

/** A chunk of a body, and the milliseconds since the start of the request. */
export interface Chunk {
  readonly ms: number
  readonly bytes: Buffer
}

/** Decompressors by content encoding. Node before 22.15 lacks zstd. */
const DECODERS: { readonly [encoding: string]: (() => Transform) | undefined } = {
  __proto__: null as never,
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
}

/** Returns true if the recorder can decode an encoding, given as an item of the header `accept-encoding`. */
export const isDecodable = (accepted: string): boolean => {
  const encoding = accepted.split(';')[0]!.trim().toLowerCase()
  return encoding === 'identity' || rowOf(DECODERS, encoding) !== undefined
}

/** Maximum number of encodings of one body. Each of them takes the time of a whole body. */
const MAX_ENCODINGS = 4

class TooLarge extends Error {}

/**
 * Decodes a compressed body chunk by chunk, so that each decoded chunk has the time of its bytes. Returns undefined if
 * an encoding is unknown or does not match the bytes.
 *
 * @param encoding the header `content-encoding`, which lists encodings in the order in which they were applied.
 * @param isComplete false for a body that was interrupted, whose encoding may have no end.
 * @throws Error if the decoded body is too large, because a few bytes may expand to very many.
 */
export async function decodedChunks(
  chunks: readonly Chunk[],
  encoding: string,
  isComplete = true,
): Promise<readonly Chunk[] | undefined> {
  const encodings = encoding
    .toLowerCase()
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '' && one !== 'identity')
  if (encodings.length > MAX_ENCODINGS) return undefined
  let decoded: readonly Chunk[] | undefined = chunks
  for (const one of encodings.reverse()) decoded = decoded && (await decodedOnce(decoded, one, isComplete))
  return decoded
}

async function decodedOnce(
  chunks: readonly Chunk[],
  encoding: string,
  isComplete: boolean,
): Promise<readonly Chunk[] | undefined> {
  const decoder = rowOf(DECODERS, encoding)?.()
  if (decoder === undefined) return undefined
  const decoded: Chunk[] = []
  let ms = 0
  let size = 0
  decoder.on('data', (bytes: Buffer) => {
    size += recordedSize(bytes)
    if (size > MAX_RECORDED) decoder.destroy(new TooLarge('the decoded body is too large'))
    else decoded.push({ ms, bytes })
  })
  const failure = new Promise<true>((resolve, reject) =>
    decoder.once('error', fault => (fault instanceof TooLarge ? reject(fault) : resolve(true))),
  )
  for (const chunk of chunks) {
    ms = chunk.ms
    const isFailed = await Promise.race([failure, new Promise<void>(done => decoder.write(chunk.bytes, () => done()))])
    if (isFailed) return undefined
    // A decoder emits data in the turn of the event loop after it received the chunk.
    await new Promise(setImmediate)
  }
  const completion = new Promise<void>(resolve => decoder.once('end', () => resolve()))
  decoder.end()
  const isFailed = await Promise.race([failure, completion])
  return isFailed && isComplete ? undefined : decoded
}

/** Redacts a streamed body and splits it into the same chunks again. */
export function redactedChunks(chunks: readonly Chunk[], contentType: string, redaction: Redaction): readonly Chunk[] {
  if (isFramed(contentType)) return redactedFrames(chunks, redaction)
  const fullText = textIn(Buffer.concat(chunks.map(({ bytes }) => bytes)))
  if (fullText === undefined) {
    const pieces = redaction.pieces(chunks.map(({ bytes }) => bytes.toString('latin1')))
    return chunks.map((chunk, index) => ({ ...chunk, bytes: Buffer.from(pieces[index]!, 'latin1') }))
  }
  const ranges = eventRanges(fullText, contentType)
  const payloads = ranges.map(({ start, end }) => fullText.slice(start, end))
  const redacted = redactedEvents(payloads, redaction)
  const edits = ranges.flatMap(({ start, end }, index): Edit[] =>
    redacted[index] === payloads[index] ? [] : [{ start, end, text: redacted[index]! }],
  )
  if (edits.length === 0) return chunks
  const decoder = new StringDecoder('utf8')
  const pieces = applyEdits(
    chunks.map(({ bytes }) => decoder.write(bytes)),
    edits,
  )
  return chunks.map((chunk, index) => ({ ...chunk, bytes: Buffer.from(pieces[index]!) }))
}

/** The event in the payload of a frame, and the payload with that event redacted. */
interface FramedEvent {
  readonly event: string
  payloadOf(redacted: string): string
}

/** Returns the event in a payload: the payload itself, or what the field `bytes` of InvokeModel holds in base64. */
function framedEvent(payload: string, redaction: Redaction): FramedEvent {
  const outer = parseObject(payload)
  const event = typeof outer?.['bytes'] === 'string' ? textIn(Buffer.from(outer['bytes'], 'base64')) : undefined
  if (event === undefined || parseObject(event) === undefined)
    return { event: payload, payloadOf: redacted => redacted }
  return {
    event,
    payloadOf: redacted =>
      redactedEvents(
        [redacted === event ? payload : JSON.stringify({ ...outer, bytes: Buffer.from(redacted).toString('base64') })],
        redaction,
      )[0]!,
  }
}

/** Redacts the payloads of binary frames like those of events. A frame belongs to the chunk in which it begins. */
function redactedFrames(chunks: readonly Chunk[], redaction: Redaction): readonly Chunk[] {
  const stream = Buffer.concat(chunks.map(({ bytes }) => bytes))
  const frames = framesIn(stream)
  const payloads = frames.map(({ payload }) => payload.toString('utf8'))
  const events = payloads.map(payload => framedEvent(payload, redaction))
  const redactedTexts = redactedEvents(
    events.map(({ event }) => event),
    redaction,
  )
  const last = frames.at(-1)
  const rest = stream.subarray(last === undefined ? 0 : last.start + last.bytes.length).toString('latin1')
  const edits = frames.flatMap((frame, index): Edit[] => {
    const payload = events[index]!.payloadOf(redactedTexts[index]!)
    const headers = withHeaderTexts(frame.headers, text => redaction.text(text))
    if (payload === payloads[index] && headers.equals(frame.headers)) return []
    const bytes = payload === payloads[index] ? frame.payload : Buffer.from(payload)
    const text = frameOf(headers, bytes).toString('latin1')
    return [{ start: frame.start, end: frame.start + frame.bytes.length, text }]
  })
  const cut = redaction.text(rest)
  if (cut !== rest) edits.push({ start: stream.length - rest.length, end: stream.length, text: cut })
  if (edits.length === 0) return chunks
  const pieces = applyEdits(
    chunks.map(({ bytes }) => bytes.toString('latin1')),
    edits,
  )
  return chunks.map((chunk, index) => ({ ...chunk, bytes: Buffer.from(pieces[index]!, 'latin1') }))
}

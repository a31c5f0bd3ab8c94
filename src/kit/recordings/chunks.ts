import type { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import zlib from 'node:zlib'
import { rowOf } from '../../canonical/maps.ts'
import { textIn } from './body.ts'
import { framesIn, isFramed, withPayload } from './event-frames.ts'
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

class TooLarge extends Error {}

/**
 * Decodes a compressed body chunk by chunk, so that each decoded chunk has the time of its bytes. Returns undefined if
 * the encoding is unknown or does not match the bytes.
 *
 * @param isComplete false for a body that was interrupted, whose encoding may have no end.
 * @throws Error if the decoded body is too large, because a few bytes may expand to very many.
 */
export async function decodedChunks(
  chunks: readonly Chunk[],
  encoding: string,
  isComplete = true,
): Promise<readonly Chunk[] | undefined> {
  const decoder = rowOf(DECODERS, encoding.trim().toLowerCase())?.()
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

/** Redacts the payloads of binary frames like those of events. A frame belongs to the chunk in which it begins. */
function redactedFrames(chunks: readonly Chunk[], redaction: Redaction): readonly Chunk[] {
  const stream = Buffer.concat(chunks.map(({ bytes }) => bytes))
  const frames = framesIn(stream)
  const payloads = frames.map(({ payload }) => payload.toString('utf8'))
  const redacted = redactedEvents(payloads, redaction)
  const last = frames.at(-1)
  const rest = stream.subarray(last === undefined ? 0 : last.start + last.bytes.length).toString('latin1')
  const edits = frames.flatMap((frame, index): Edit[] => {
    if (redacted[index] === payloads[index]) return []
    const text = withPayload(frame, Buffer.from(redacted[index]!)).toString('latin1')
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

import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** A file generated from its seed. Any range can be generated without the rest. */
export interface Clip {
  readonly seed: string
  readonly size: number
  readonly mediaType: string
}

const PERIOD = 64 * 1024

/** The bytes of a clip from `start` (inclusive) to `end` (exclusive). */
export function clipBytes({ seed, size }: Clip, start = 0, end = size): Buffer {
  const pattern = patternOf(seed)
  const out = Buffer.allocUnsafe(Math.max(0, Math.min(end, size) - start))
  for (let at = 0; at < out.length; ) {
    const from = (start + at) % PERIOD
    at += pattern.copy(out, at, from, Math.min(PERIOD, from + out.length - at))
  }
  return out
}

const patterns = new Map<string, Buffer>()

function patternOf(seed: string): Buffer {
  let pattern = patterns.get(seed)
  if (pattern === undefined) {
    const blocks = Array.from({ length: PERIOD / 32 }, (_, at) => createHash('sha256').update(`${seed}/${at}`).digest())
    pattern = Buffer.concat(blocks)
    if (patterns.size > 16) patterns.clear()
    // A file that began like JSON would not count as a video.
    pattern[0] = 0
    patterns.set(seed, pattern)
  }
  return pattern
}

export interface Part {
  readonly range: string | undefined
  readonly head: boolean
  /** Whether the connection is closed after half of the bytes. */
  readonly half: boolean
}

/** Sends a clip or a single range of it (RFC 9110, 14.2), as fast as the socket accepts it. */
export function sendClip(
  response: ServerResponse,
  clip: Clip,
  { range, head, half }: Part,
  sent: (bytes: number) => void,
): void {
  const { size } = clip
  const wanted = rangeOf(range, size)
  if (wanted === 'unsatisfiable') return void response.writeHead(416, { 'content-range': `bytes */${size}` }).end()
  const { start, end } = wanted ?? { start: 0, end: size }
  response.writeHead(wanted === undefined ? 200 : 206, {
    'content-type': clip.mediaType,
    'content-length': end - start,
    'accept-ranges': 'bytes',
    etag: `"${createHash('sha1').update(clip.seed).digest('hex').slice(0, 12)}"`,
    ...(wanted === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  })
  if (head) return void response.end()
  pump(response, clip, { at: start, end: half ? start + Math.floor((end - start) / 2) : end, half }, sent)
}

function pump(
  response: ServerResponse,
  clip: Clip,
  going: { at: number; readonly end: number; readonly half: boolean },
  sent: (bytes: number) => void,
): void {
  const { end, half } = going
  while (going.at < end) {
    if (response.destroyed) return
    const bytes = clipBytes(clip, going.at, Math.min(end, going.at + PERIOD))
    going.at += bytes.length
    sent(bytes.length)
    if (!response.write(bytes)) return void response.once('drain', () => pump(response, clip, going, sent))
  }
  if (half) response.write('', () => response.destroy())
  else response.end()
}

/** The range in a header. Undefined if none is valid. */
export function rangeOf(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [, from, to] = match
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  return start >= size || start >= end ? 'unsatisfiable' : { start, end }
}

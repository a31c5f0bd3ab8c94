import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { beginningOf, isGzip } from './beginning.ts'

const INFLATERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** Encodings whose first bytes show that a body is not compressed after all; Brotli's may be any. */
const DETECTABLE: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate'])

/**
 * The decompressor of a body, by its declared encoding and by its first bytes, which decide where the two disagree;
 * undefined where it is not compressed.
 */
export function inflaterFor(encoding: string, first: Uint8Array): Transform | undefined {
  const packed = Object.hasOwn(INFLATERS, encoding)
  if (isGzip(first)) return (packed ? INFLATERS[encoding]! : createGunzip)()
  if (!packed || (DETECTABLE.has(encoding) && isPlain(first))) return undefined
  return INFLATERS[encoding]!()
}

function isPlain(first: Uint8Array): boolean {
  const begins = beginningOf(first)
  return begins === 'json' || begins === 'events'
}

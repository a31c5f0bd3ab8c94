import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { beginningOf, isGzip } from './beginning.ts'

const INFLATERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** What is plain although it is called packed is told by its first bytes; Brotli's may be any. */
const TELLING: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate'])

/**
 * What unpacks a body, by its encoding's name and by what it begins with, which decides where the two disagree;
 * undefined where it is not packed.
 */
export function inflaterFor(encoding: string, first: Uint8Array): Transform | undefined {
  const packed = Object.hasOwn(INFLATERS, encoding)
  if (isGzip(first)) return (packed ? INFLATERS[encoding]! : createGunzip)()
  if (!packed || (TELLING.has(encoding) && isPlain(first))) return undefined
  return INFLATERS[encoding]!()
}

function isPlain(first: Uint8Array): boolean {
  const begins = beginningOf(first)
  return begins === 'json' || begins === 'events'
}

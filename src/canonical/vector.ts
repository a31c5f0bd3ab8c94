import type { Vector } from './content.ts'

/** How a vector is said: as numbers, or as the base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64'

/** The vector in that encoding; the same object where it is in it already. */
export function vectorAs(vector: Vector, encoding: VectorEncoding): Vector {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : numbersIn(vector)
  return encoding === 'float' ? vector : base64Of(vector)
}

export const encodingOf = (vector: Vector): VectorEncoding => (typeof vector === 'string' ? 'base64' : 'float')

/** Numbers as 32-bit floats: what an upstream computed with that precision comes back the same. */
export const base64Of = (numbers: readonly number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64')

/** Bytes that make no whole number at the end are left out. */
export function numbersIn(base64: string): number[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return Array.from(new Float32Array(bytes.buffer, 0, bytes.length >> 2))
}

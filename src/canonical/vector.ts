import type { Vector } from './content.ts'

/** How a vector is said: as numbers, or as the base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64'

/** Numbers as the JSON text of their list, as an upstream wrote it and nobody has read it. */
export class NumbersText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }

  /** The numbers; none where the text is no list. */
  numbers(): readonly number[] {
    try {
      return JSON.parse(this.json) as readonly number[]
    } catch {
      return []
    }
  }

  toJSON(): readonly number[] {
    return this.numbers()
  }
}

/** The vector in that encoding; the same object where it is in it already, but for numbers nobody has read. */
export function vectorAs(vector: Vector, encoding: VectorEncoding): string | readonly number[] {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : numbersIn(vector)
  const numbers = vector instanceof NumbersText ? vector.numbers() : vector
  return encoding === 'float' ? numbers : base64Of(numbers)
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

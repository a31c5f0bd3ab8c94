/**
 * Numbers, or the base64 of as many little-endian 32-bit floats (docs/wire/embeddings.md#encodings): turned into one
 * another, or read at all, only where asked.
 */
export type Vector = readonly number[] | string | NumbersText

/** How a vector is written: as numbers, or as the base64 of little-endian 32-bit floats. */
export type VectorEncoding = 'float' | 'base64'

/** Numbers as the JSON text of their list, as an upstream wrote it, unparsed. */
export class NumbersText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }

  /** The parsed numbers; empty where the text does not parse. */
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

const NO_NUMBERS = /^\[\s*\]$/

/** Whether a vector is without a number, found without parsing it. */
export const isEmptyVector = (vector: Vector): boolean =>
  vector instanceof NumbersText ? NO_NUMBERS.test(vector.json) : vector.length === 0

/** The vector in that encoding; the same object where it has it already, except that unparsed numbers are parsed. */
export function vectorAs(vector: Vector, encoding: VectorEncoding): string | readonly number[] {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : numbersIn(vector)
  const numbers = vector instanceof NumbersText ? vector.numbers() : vector
  return encoding === 'float' ? numbers : base64Of(numbers)
}

export const encodingOf = (vector: Vector): VectorEncoding => (typeof vector === 'string' ? 'base64' : 'float')

/** Numbers as 32-bit floats: values that an upstream computed with that precision stay the same. */
export const base64Of = (numbers: readonly number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64')

/** Trailing bytes that do not make a whole number are left out. */
export function numbersIn(base64: string): number[] {
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return Array.from(new Float32Array(bytes.buffer, 0, bytes.length >> 2))
}

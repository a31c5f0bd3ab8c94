import { decodeBase64, encodeBase64 } from './base64.ts'

/**
 * An embedding: a list of numbers, or little-endian 32-bit floats in base64 (docs/wire/embeddings.md#encodings). Parsed
 * and converted only when needed.
 */
export type Vector = readonly number[] | string | NumbersText

/** Encoding of a vector: numbers, or little-endian 32-bit floats in base64. */
export type VectorEncoding = 'float' | 'base64'

/** A vector as received from an upstream: the unparsed JSON text of a list of numbers. */
export class NumbersText {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }

  /** Parses the numbers. Returns an empty list if the text is malformed. */
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

/** Returns true if a vector has no numbers. Does not parse it. */
export const isEmptyVector = (vector: Vector): boolean =>
  vector instanceof NumbersText ? NO_NUMBERS.test(vector.json) : vector.length === 0

/**
 * Converts a vector to an encoding. Returns the same value if it already has that encoding. Parses unparsed numbers.
 */
export function vectorAs(vector: Vector, encoding: VectorEncoding): string | readonly number[] {
  if (typeof vector === 'string') return encoding === 'base64' ? vector : numbersIn(vector)
  const numbers = vector instanceof NumbersText ? vector.numbers() : vector
  return encoding === 'float' ? numbers : base64Of(numbers)
}

export const encodingOf = (vector: Vector): VectorEncoding => (typeof vector === 'string' ? 'base64' : 'float')

/** Encodes numbers as 32-bit floats in base64. Numbers that an upstream computed with that precision remain exact. */
export const base64Of = (numbers: readonly number[]): string =>
  encodeBase64(new Uint8Array(Float32Array.from(numbers).buffer))

/** Decodes 32-bit floats from base64. Drops trailing bytes that do not form a complete float. */
export function numbersIn(base64: string): number[] {
  const bytes = Uint8Array.from(decodeBase64(base64))
  return Array.from(new Float32Array(bytes.buffer, 0, bytes.length >> 2))
}

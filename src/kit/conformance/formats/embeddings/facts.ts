import { createHash } from 'node:crypto'
import type { MediaFacts, UsageFacts } from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, textOf } from '../../json.ts'

/* The meaning of embeddings, independent of the format. */

/** One input. Each input has one vector. */
export interface InputFacts {
  readonly text?: string
  /** Token ids, joined by spaces. */
  readonly tokens?: string
  readonly media?: readonly MediaFacts[]
  readonly title?: string
}

export interface EmbeddingFacts {
  readonly inputs?: readonly InputFacts[]
  readonly purpose?: Purpose
  /** Number of dimensions per vector. */
  readonly dimensions?: number
  /** End at which a text is cut off if it is too long. */
  readonly truncate?: string
  readonly endUser?: string
}

/** One vector. Base64 and lists of numbers are two encodings of the same vector. */
export interface VectorFacts {
  readonly dimensions?: number
  /** The first numbers, and a digest of all numbers as 32-bit floats. */
  readonly numbers: string
}

export interface VectorsFacts {
  readonly vectors?: readonly VectorFacts[]
  readonly usage?: UsageFacts
}

/** Purpose of the vectors. */
export type Purpose =
  | 'query'
  | 'document'
  | 'similarity'
  | 'classification'
  | 'clustering'
  | 'question'
  | 'claim'
  | 'code-query'
  | `other:${string}`

/** Translates a vendor's value into a purpose. */
export const purposeOf = (
  table: { readonly [value: string]: Purpose },
  value: Json | undefined,
): Purpose | undefined => (typeof value === 'string' ? (table[value] ?? `other:${value}`) : undefined)

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Size of a number in base64 vectors, in bytes: a little-endian 32-bit float. */
const FLOAT_BYTES = 4

/** Reads the numbers of a vector from a list or from base64. Returns undefined for anything else. */
export function numbersOf(vector: Json | undefined): readonly number[] | undefined {
  if (typeof vector !== 'string') {
    const list = listOf(vector)
    return list.length > 0 && list.every(Number.isFinite) ? (list as readonly number[]) : undefined
  }
  const bytes = Buffer.from(vector, 'base64')
  if (!BASE64.test(vector) || bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) return undefined
  const numbers = Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  )
  return numbers.every(Number.isFinite) ? numbers : undefined
}

/** Number of leading vector components that reports show. */
const SHOWN_COMPONENTS = 4

/** Returns the facts of one vector. Numbers are compared as 32-bit floats, the precision of models. -0 equals 0. */
export function vectorFacts(vector: Json | undefined): VectorFacts {
  const numbers = numbersOf(vector)
  if (numbers === undefined) return { numbers: 'unreadable' }
  const floats = Float32Array.from(numbers, number => Math.fround(number) + 0)
  const digest = createHash('sha256').update(new Uint8Array(floats.buffer)).digest('hex')
  const first = [...floats.subarray(0, SHOWN_COMPONENTS)].map(number => Number(number.toPrecision(7))).join(', ')
  return { dimensions: floats.length, numbers: `${first} … sha256 ${digest.slice(0, 16)}` }
}

/** Returns the facts of an answer with vectors: the vectors and their token count. */
export const vectorsFacts = (vectors: readonly (Json | undefined)[], input: number | undefined): VectorsFacts =>
  compact({ vectors: vectors.map(vectorFacts), usage: compact({ input }) }) as VectorsFacts

/** Reads OpenAI's `input`: a text, a list of texts, token ids, or lists of token ids. */
export function inputsOf(input: Json | undefined): InputFacts[] {
  const list = listOf(input)
  if (!Array.isArray(input) || typeof list[0] === 'number') return [inputOf(input ?? '')]
  return list.map(inputOf)
}

const inputOf = (value: Json): InputFacts =>
  Array.isArray(value) ? { tokens: value.join(' ') } : { text: textOf(value) ?? '' }

/** Returns the vectors in OpenAI's `data`, sorted by index. */
export const dataVectors = (body: JsonObject): (Json | undefined)[] =>
  (listOf(body['data']) as readonly JsonObject[])
    .map((entry, position) => ({ at: numberOf(entry?.['index']) ?? position, vector: entry?.['embedding'] }))
    .sort((a, b) => a.at - b.at)
    .map(({ vector }) => vector)

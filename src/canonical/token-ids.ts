import type { Part } from './content.ts'

/** Returns the token ids of an input to embed, in some model's vocabulary, or undefined for any other part. */
export function tokenIdsOf(part: Part): readonly number[] | undefined {
  if (part.type !== 'opaque') return undefined
  const { tokens } = part.value
  return Array.isArray(tokens) && typeof tokens[0] === 'number' ? (tokens as readonly number[]) : undefined
}

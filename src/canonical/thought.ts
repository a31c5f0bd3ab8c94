import type { Part, ReasoningPart } from './content.ts'

/** Nothing is said of the thought but its text. */
export const isUnsigned = (part: Part | undefined): part is ReasoningPart =>
  part?.type === 'reasoning' && part.text !== '' && isPlain(part) && part.signature === undefined

/** A thought with a proof, be it with words or without. */
export const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/** A proof without words of its own: of the thought it stands behind, or of the part it stands before. */
export const isLoneProof = (
  part: Part | undefined,
): part is ReasoningPart & Required<Pick<ReasoningPart, 'signature'>> =>
  part?.type === 'reasoning' && part.text === '' && isPlain(part) && part.signature !== undefined

const isPlain = ({ redacted, cache, extras }: ReasoningPart): boolean =>
  redacted === undefined && cache === undefined && extras === undefined

/** The one thought two neighbours are: a thought and its next piece, or its proof; undefined where they are two. */
export function oneThought(before: Part | undefined, part: Part): ReasoningPart | undefined {
  if (!isUnsigned(before)) return undefined
  if (isLoneProof(part)) return { ...before, signature: part.signature }
  if (part.type !== 'reasoning' || part.continues === undefined || !isPlain(part)) return undefined
  const { continues: _, ...piece } = part
  return { ...piece, text: before.text + part.text }
}

import type { Part, ReasoningPart } from './content.ts'

/** Whether the thought has text and nothing else. */
export const isUnsigned = (part: Part | undefined): part is ReasoningPart =>
  part?.type === 'reasoning' && part.text !== '' && isPlain(part) && part.signature === undefined

/** Whether the part is a thought with a proof, with or without text. */
export const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature !== undefined

/** Whether the part is a proof without text: of the thought before it, or of the part after it. */
export const isLoneProof = (
  part: Part | undefined,
): part is ReasoningPart & Required<Pick<ReasoningPart, 'signature'>> =>
  part?.type === 'reasoning' && part.text === '' && isPlain(part) && part.signature !== undefined

const isPlain = ({ redacted, cache, extras }: ReasoningPart): boolean =>
  redacted === undefined && cache === undefined && extras === undefined

/** Two neighbouring parts as one thought: a thought and its next chunk, or its proof; undefined where they are two. */
export function oneThought(before: Part | undefined, part: Part): ReasoningPart | undefined {
  if (!isUnsigned(before)) return undefined
  if (isLoneProof(part)) return { ...before, signature: part.signature }
  if (part.type !== 'reasoning' || part.continues === undefined || !isPlain(part)) return undefined
  const { continues: _, ...chunk } = part
  return { ...chunk, text: before.text + part.text }
}

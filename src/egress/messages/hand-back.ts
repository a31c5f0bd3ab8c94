import type { ReasoningPart } from '../../canonical/content.ts'
import type { HandBack, WriteOptions } from '../writer.ts'
import { FORMAT } from './content.ts'
import { messagesDialect } from './dialect.ts'

/** A thought with its proof goes back to who signed it (trap 30); a caller of this format may say what nobody signed. */
export function handsBack(thought: ReasoningPart, { native, own }: HandBack): ReasoningPart | undefined {
  if (!own) return undefined
  return thought.signature?.format === FORMAT || (native && thought.signature === undefined) ? thought : undefined
}

/**
 * Whether a proof is refused where anything before it changed, as by the newest families of Claude ("Preserved
 * thinking", platform.claude.com, read on 2026-11-22). Of a model that callers of this format ask for nothing is known.
 */
export const boundProofs = ({ dialect, native }: WriteOptions): boolean =>
  native || messagesDialect(dialect).bound_proofs === true

import type { ReasoningPart } from '../../canonical/content.ts'
import type { HandBack, WriteOptions } from '../writer.ts'
import { FORMAT } from './content.ts'
import { messagesDialect } from './dialect.ts'

/** A thought with its proof is returned to its issuer (trap 30); a native caller may also send unsigned thoughts. */
export function handsBack(thought: ReasoningPart, { native, own }: HandBack): ReasoningPart | undefined {
  if (!own) return undefined
  return thought.signature?.format === FORMAT || (native && thought.signature === undefined) ? thought : undefined
}

/**
 * Whether a proof is refused where anything before it changed, as by the newest families of Claude ("Preserved
 * thinking", platform.claude.com, read on 2026-11-22). For native callers the model's behaviour is unknown, so it is
 * assumed.
 */
export const boundProofs = ({ dialect, native }: WriteOptions): boolean =>
  native || messagesDialect(dialect).bound_proofs === true

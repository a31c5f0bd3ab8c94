import type { ReasoningPart } from '../../canonical/content.ts'
import { spelt } from '../fields.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './content.ts'

/**
 * An encrypted thought is returned to the organisation it was made for (trap 33), as Codex does: without the id, which
 * an upstream looks up and may not have stored (trap 34).
 */
export function handsBack(thought: ReasoningPart, { own }: HandBack): ReasoningPart | undefined {
  if (!own || thought.signature?.format !== FORMAT) return undefined
  const { id: _, status: __, ...rest } = spelt(thought, FORMAT)
  return { ...thought, spelling: { [FORMAT]: rest } }
}

import type { ReasoningPart } from '../../canonical/content.ts'
import { spelt } from '../fields.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './content.ts'

/**
 * An encrypted thought goes back to the organisation it was made for (trap 33), as Codex does it: without the id, which
 * an upstream looks up and may not keep (trap 34).
 */
export function handsBack(thought: ReasoningPart, { own }: HandBack): ReasoningPart | undefined {
  if (!own || thought.signature?.format !== FORMAT) return undefined
  const { id: _, status: __, ...said } = spelt(thought, FORMAT)
  return { ...thought, spelling: { [FORMAT]: said } }
}

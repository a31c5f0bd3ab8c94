import type { ReasoningPart } from '../../canonical/content.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './content.ts'

/** A thought with its proof goes back to who signed it (trap 30); a caller of this format may say what nobody signed. */
export function handsBack(thought: ReasoningPart, { native, own }: HandBack): ReasoningPart | undefined {
  if (!own) return undefined
  return thought.signature?.format === FORMAT || (native && thought.signature === undefined) ? thought : undefined
}

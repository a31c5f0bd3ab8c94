import type { ReasoningPart } from '../../canonical/content.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './fields.ts'

/** All of a model's turn goes back to the model that made it, as Google's own clients have it (trap 31). */
export const handsBack = (thought: ReasoningPart, { own }: HandBack): ReasoningPart | undefined =>
  own && (thought.signature === undefined || thought.signature.format === FORMAT) ? thought : undefined

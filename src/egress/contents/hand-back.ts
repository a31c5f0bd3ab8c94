import type { ReasoningPart } from '../../canonical/content.ts'
import type { HandBack } from '../writer.ts'
import { FORMAT } from './fields.ts'

/** A whole turn is returned to the model that generated it, as Google's own clients do (trap 31). */
export const handsBack = (thought: ReasoningPart, { own }: HandBack): ReasoningPart | undefined =>
  own && (thought.signature === undefined || thought.signature.format === FORMAT) ? thought : undefined

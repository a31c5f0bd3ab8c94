import type { ReasoningPart } from '../../canonical/content.ts'
import { Sequential } from '../../canonical/sequential.ts'
import type { ReasoningTarget, Writer } from '../writer.ts'
import { FORMAT } from './context.ts'
import { writeError } from './error.ts'
import { InteractionStream } from './events.ts'
import { RelayedInteraction } from './relayed-stream.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Returns reasoning, with its signature, to the account whose model generated it (trap 31). */
const reasoningForHistory = (reasoning: ReasoningPart, { toIssuer }: ReasoningTarget): ReasoningPart | undefined =>
  toIssuer && reasoning.signature?.format === FORMAT ? reasoning : undefined

/** The writers for Google's Interactions API (docs/wire/interactions.md). */
export const interactions: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new Sequential(new InteractionStream(request)),
  nativeEvents: request => new RelayedInteraction(new InteractionStream(request)),
  reasoningForHistory,
  error: writeError,
}

import type { ReasoningPart } from '../../canonical/content.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { cohereChatDialect } from '../../formats/dialects/cohere-chat.ts'
import { writeRetrievalError } from '../errors/retrieval-error.ts'
import type { ReasoningTarget, Writer } from '../writer.ts'
import { CohereChatStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/**
 * Returns reasoning text to models that can think. Any model's reasoning can be returned, because the format has no
 * signatures.
 */
const reasoningForHistory = (
  { text, redacted }: ReasoningPart,
  { dialect }: ReasoningTarget,
): ReasoningPart | undefined =>
  cohereChatDialect(dialect).thinks === true && text !== '' && !redacted ? { type: 'reasoning', text } : undefined

/** The writers for chat in version 2 of Cohere's API (docs/wire/cohere-chat.md). */
export const cohereChat: Writer = {
  request: writeRequest,
  result: writeResult,
  events: () => new Sequential(new CohereChatStream()),
  reasoningForHistory,
  error: writeRetrievalError,
}

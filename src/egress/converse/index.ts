import type { ReasoningPart } from '../../canonical/content.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { converseDialect } from '../../formats/dialects/converse.ts'
import type { ReasoningTarget, Writer } from '../writer.ts'
import { FORMAT } from './context.ts'
import { writeError } from './error.ts'
import { ConverseStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Returns signed reasoning to its issuer (trap 30), and unsigned reasoning for native callers. */
const reasoningForHistory = (
  reasoning: ReasoningPart,
  { native, toIssuer }: ReasoningTarget,
): ReasoningPart | undefined => {
  const isOwn = reasoning.signature?.format === FORMAT || (native && reasoning.signature === undefined)
  return toIssuer && isOwn ? reasoning : undefined
}

/** The writers for Bedrock's Converse (docs/wire/converse.md). */
export const converse: Writer = {
  request: writeRequest,
  result: writeResult,
  events: () => new Sequential(new ConverseStream()),
  mustFetch: ({ source }) => source.type === 'url',
  reasoningForHistory,
  boundSignatures: ({ dialect, native }) => native || converseDialect(dialect).bound_proofs === true,
  error: writeError,
}

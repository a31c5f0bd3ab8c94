import type { Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyObjects, defined } from '../fields.ts'
import { readInnerError } from './error.ts'
import { FORMAT, nodeOf, open, remainsOf } from './fields.ts'
import { readUsage } from './usage.ts'

const ANSWER = new Set(['embedding', 'embeddings', 'usageMetadata', 'error'])
const TAKEN = new Set(['embedding', 'embeddings', 'usageMetadata'])

/** The answer of `:embedContent` or `:batchEmbedContents` (FORMATS §8): a vector for each content, in their order. */
export function readEmbedded({ body }: WireAnswer): CanonicalResult {
  const opened = open(body, ANSWER)
  const { fields } = opened
  const { embedding, embeddings } = fields
  const one = isObject(embedding) ? [embedding] : undefined
  const vectors = one ?? (Array.isArray(embeddings) ? anyObjects(embeddings) : undefined)
  if (vectors === undefined) throw new GatewayError(fields['error'] == null ? NOT_AN_ANSWER : readInnerError(fields))
  const usage = anyObject(fields['usageMetadata'])
  const refused = [
    ...(usage === undefined ? ['usageMetadata'] : []),
    ...(one === undefined ? ['embedding'] : ['embeddings']),
  ]
  return {
    candidates: [{ content: vectors.map(readVector) }],
    ...defined({ usage: usage && readCounts(usage) }),
    ...nodeOf(remainsOf(opened, TAKEN, { single: one === undefined ? undefined : true }, {}, refused)),
  }
}

const NOT_AN_ANSWER = {
  kind: 'upstream-failed',
  message: 'The upstream sent something that holds no embeddings.',
} as const

const VECTOR = new Set(['values'])

function readVector(wire: JsonObject): Part {
  const { values } = wire
  if (!Array.isArray(values)) return { type: 'opaque', format: FORMAT, value: wire }
  const part: Part = { type: 'embedding', vector: values as readonly number[] }
  return Object.keys(wire).length === 1 ? part : { ...part, ...nodeOf(remainsOf(open(wire, VECTOR), VECTOR)) }
}

/** Only the prompt is counted, so all of it is input; the Gemini API has its own name for the counts by modality. */
function readCounts(wire: JsonObject): Usage {
  const { promptTokenDetails, ...others } = wire
  const known = promptTokenDetails === undefined ? wire : { ...others, promptTokensDetails: promptTokenDetails }
  const { input, output, ...usage } = readUsage(known)
  return {
    ...usage,
    ...(input === undefined && output === undefined ? {} : { input: (input ?? 0) + (output ?? 0) }),
    spelling: { [FORMAT]: { whole: wire } },
  }
}

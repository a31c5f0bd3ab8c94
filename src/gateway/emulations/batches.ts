import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMAT_FACTS } from '../../formats/index.ts'
import type { Target } from '../../upstreams/router.ts'
import { roundTrip } from '../round-trip.ts'
import type { Attempt, RoundTrip, WholeAnswer } from '../types.ts'
import { combinedResult, inParallel } from './several.ts'

/** Maximum number of a request's batches that are in flight at once. */
const MAX_CONCURRENT_BATCHES = 4

/** Returns true if a request has more inputs to embed than the upstream accepts at once. */
export const needsBatches = (request: CanonicalRequest, target: Target): boolean =>
  batchesOf(request, target) !== undefined

/** Splits a request into batches. Returns undefined if one request is enough. */
function batchesOf(request: CanonicalRequest, target: Target): readonly CanonicalRequest[] | undefined {
  const limit = limitOf(target)
  const { messages } = request
  if (limit === undefined || messages.length <= limit || workOf(request) !== 'embedding') return undefined
  if (areEmbeddedJointly(request)) return undefined
  const count = Math.ceil(messages.length / limit)
  return Array.from({ length: count }, (_, index) => ({
    ...request,
    messages: messages.slice(index * limit, (index + 1) * limit),
  }))
}

/**
 * Returns true if the inputs are embedded as one text, so that splitting them would change the result
 * (docs/wire/embeddings.md#jina).
 */
const areEmbeddedJointly = ({ extras = {} }: CanonicalRequest): boolean =>
  Object.entries(extras).some(([format, fields]) => {
    const field = FORMAT_FACTS.get(format)?.jointInputs
    return field !== undefined && fields[field] === true
  })

/** Returns the target's maximum number of inputs per request. Google's Vertex AI accepts one. */
function limitOf({ format: { dialect } }: Target): number | undefined {
  const { batch = dialect['vertex'] === true ? 1 : undefined } = dialect
  return typeof batch === 'number' && batch >= 1 ? Math.floor(batch) : undefined
}

/**
 * Sends a request as it is, or in parallel batches whose answers are joined in order.
 *
 * @throws the GatewayError of the first batch that fails.
 */
export const roundTripInBatches: RoundTrip = (attempt, request, signal) => {
  const batches = batchesOf(request, attempt.target)
  return batches === undefined ? roundTrip(attempt, request, signal) : sendBatches(attempt, batches)
}

async function sendBatches(attempt: Attempt, batches: readonly CanonicalRequest[]): Promise<WholeAnswer> {
  const requests = batches.map(batch => (signal: AbortSignal) => roundTrip(attempt, batch, signal))
  const answers = await inParallel(attempt, requests, MAX_CONCURRENT_BATCHES)
  const { result, headers } = answers[0]!
  const content = answers.flatMap(answer => answer.result.candidates[0]?.content ?? [])
  const joinedResult = combinedResult(answers, [{ ...result.candidates[0]!, content }])
  return { result: joinedResult, losses: allLosses(answers, batches[0]!.messages.length), headers }
}

/**
 * Returns the losses of inputs at their indexes in the whole request, and the losses of settings only once, because
 * they are the same in every batch.
 */
const allLosses = (answers: readonly WholeAnswer[], size: number): readonly Loss[] =>
  answers.flatMap(({ losses }, index) =>
    losses.flatMap(loss => shifted(loss, index * size) ?? (index === 0 ? loss : [])),
  )

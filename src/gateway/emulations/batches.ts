import { type Loss, shifted } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { tokenIdsOf } from '../../canonical/token-ids.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMAT_FACTS } from '../../formats/index.ts'
import type { Target } from '../../upstreams/router.ts'
import { roundTrip } from '../round-trip.ts'
import type { Attempt, RoundTrip, WholeAnswer } from '../types.ts'
import { combinedResult, inParallel } from './several.ts'

/** Maximum number of a request's batches that are in flight at once. */
const MAX_CONCURRENT_BATCHES = 4

/** Returns true if a request has more inputs or tokens to embed than the upstream accepts at once. */
export const needsBatches = (request: CanonicalRequest, target: Target): boolean =>
  batchesOf(request, target) !== undefined

/** Splits a request into batches. Returns undefined if one request is enough. */
function batchesOf(request: CanonicalRequest, target: Target): readonly CanonicalRequest[] | undefined {
  if (workOf(request) !== 'embedding' || areEmbeddedJointly(request)) return undefined
  const batches = filled(request.messages, limitsOf(target))
  return batches.length < 2 ? undefined : batches.map(messages => ({ ...request, messages }))
}

/** Fills one batch after the other in order. An input of more tokens than a batch may have is a batch of its own. */
function filled(messages: readonly Message[], { inputs, tokens }: Limits): readonly (readonly Message[])[] {
  if (messages.length <= inputs && tokens === Number.POSITIVE_INFINITY) return [messages]
  const batches: Message[][] = []
  let batch: Message[] = []
  let batchTokens = 0
  for (const message of messages) {
    const size = tokens === Number.POSITIVE_INFINITY ? 0 : tokensAtMost(message)
    if (batch.length === 0 || batch.length === inputs || batchTokens + size > tokens) {
      batch = []
      batches.push(batch)
      batchTokens = 0
    }
    batch.push(message)
    batchTokens += size
  }
  return batches
}

/** Bytes of UTF-8 per token that texts of all languages exceed: English has about 4.5, Chinese about 2.5. */
const BYTES_PER_TOKEN = 2

/** Estimates the tokens of an input on the high side, without a vocabulary. Media count as none. */
const tokensAtMost = ({ content }: Message): number =>
  content.reduce((sum, part) => {
    const text = part.type === 'text' || part.type === 'opaque' ? part.text : undefined
    if (text !== undefined) return sum + Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
    return sum + (tokenIdsOf(part)?.length ?? 0)
  }, 0)

/**
 * Returns true if the inputs are embedded as one text, so that splitting them would change the result
 * (docs/wire/embeddings.md#jina).
 */
const areEmbeddedJointly = ({ extras = {} }: CanonicalRequest): boolean =>
  Object.entries(extras).some(([format, fields]) => {
    const field = FORMAT_FACTS.get(format)?.jointInputs
    return field !== undefined && fields[field] === true
  })

/** Maximum number of inputs of one request, and of their tokens. */
interface Limits {
  readonly inputs: number
  readonly tokens: number
}

/** Returns the target's limits. Google's Vertex AI accepts one input per request. */
function limitsOf({ format: { dialect } }: Target): Limits {
  const { batch = dialect['vertex'] === true ? 1 : undefined, batch_tokens: tokens } = dialect
  return { inputs: limitIn(batch), tokens: limitIn(tokens) }
}

const limitIn = (value: Json | undefined): number =>
  typeof value === 'number' && value >= 1 ? Math.floor(value) : Number.POSITIVE_INFINITY

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
  return { result: joinedResult, losses: allLosses(answers, batches), headers }
}

/**
 * Returns the losses of inputs at their indexes in the whole request, and the losses of settings only once, because
 * they are the same in every batch.
 */
function allLosses(answers: readonly WholeAnswer[], batches: readonly CanonicalRequest[]): readonly Loss[] {
  let before = 0
  return answers.flatMap(({ losses }, index) => {
    const offset = before
    before += batches[index]!.messages.length
    return losses.flatMap(loss => shifted(loss, offset) ?? (index === 0 ? loss : []))
  })
}

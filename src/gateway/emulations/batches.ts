import { type Loss, shifted } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { FORMATS } from '../../formats/index.ts'
import type { Target } from '../../upstreams/router.ts'
import { roundTrip } from '../round-trip.ts'
import type { Attempt, RoundTrip, WholeAnswer } from '../types.ts'
import { combined, together } from './several.ts'

/** How many batches of one request are under way at once. */
const AT_ONCE = 4

/** Whether there is more to embed than the upstream takes in one request. */
export const needsBatches = (request: CanonicalRequest, target: Target): boolean =>
  batchesOf(request, target) !== undefined

/** The batches of a request; undefined where one request does. */
function batchesOf(request: CanonicalRequest, target: Target): readonly CanonicalRequest[] | undefined {
  const limit = limitOf(target)
  const { messages } = request
  if (limit === undefined || messages.length <= limit || workOf(request) !== 'embedding') return undefined
  if (areJoint(request)) return undefined
  const count = Math.ceil(messages.length / limit)
  return Array.from({ length: count }, (_, index) => ({
    ...request,
    messages: messages.slice(index * limit, (index + 1) * limit),
  }))
}

/** Whether the inputs are embedded as one text: apart they mean something else (FORMATS §8). */
const areJoint = ({ extras = {} }: CanonicalRequest): boolean =>
  Object.entries(extras).some(([format, fields]) => {
    const field = FORMATS.get(format)?.jointInputs
    return field !== undefined && fields[field] === true
  })

/** How many inputs one request may have; Google's cloud takes one. */
function limitOf({ format: { dialect } }: Target): number | undefined {
  const { batch = dialect['vertex'] === true ? 1 : undefined } = dialect
  return typeof batch === 'number' && batch >= 1 ? Math.floor(batch) : undefined
}

/**
 * The answer to a request, or to its batches in their order; a few of them are under way at once.
 *
 * @throws GatewayError as the first batch that fails.
 */
export const roundTripInBatches: RoundTrip = (attempt, request, signal) => {
  const batches = batchesOf(request, attempt.target)
  return batches === undefined ? roundTrip(attempt, request, signal) : joined(attempt, batches)
}

async function joined(attempt: Attempt, batches: readonly CanonicalRequest[]): Promise<WholeAnswer> {
  const requests = batches.map(batch => (signal: AbortSignal) => roundTrip(attempt, batch, signal))
  const answers = await together(attempt, requests, AT_ONCE)
  const { result, headers } = answers[0]!
  const content = answers.flatMap(one => one.result.candidates[0]?.content ?? [])
  const whole = combined(answers, [{ ...result.candidates[0]!, content }])
  return { result: whole, losses: allLosses(answers, batches[0]!.messages.length), headers }
}

/** Losses of what is embedded, at its place in the whole request; what is lost of the settings is lost alike in all. */
const allLosses = (answers: readonly WholeAnswer[], size: number): readonly Loss[] =>
  answers.flatMap(({ losses }, index) =>
    losses.flatMap(loss => shifted(loss, index * size) ?? (index === 0 ? loss : [])),
  )

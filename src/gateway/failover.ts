import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Candidate } from '../router.ts'
import { type Attempt, attempt } from './attempt.ts'
import { candidateFailure } from './candidate-failure.ts'
import type { Channels } from './channels.ts'
import { GONE, mayRetry, moreUsefulFailure, toFailure } from './failures.ts'
import type { Fetching, Media } from './media.ts'
import { isSpent, type ReadRequest } from './read-request.ts'
import type { Log } from './report.ts'
import type { Running } from './running.ts'

/** What trying one channel after the other works with. */
export interface FailoverOptions {
  readonly channels: Channels
  readonly media: Media
  readonly running: Running
  readonly log: Log
  readonly fetching: Fetching
  /** What is the same for every channel. */
  readonly shared: Omit<Attempt, 'request' | 'candidate' | 'channel' | 'echo' | 'stored' | 'deliver'>
  /** How the answer's pictures are brought to the caller; undefined for any other work. */
  delivery(request: CanonicalRequest): Attempt['deliver']
}

/**
 * Tries one channel after the other, until one answers or what failed would fail everywhere.
 *
 * @param candidates the best first.
 * @throws GatewayError, the most useful of the failures.
 */
export async function failover(
  asked: ReadRequest,
  candidates: readonly Candidate[],
  { channels, media, running, log, fetching, shared, delivery }: FailoverOptions,
): Promise<void> {
  const { session } = asked
  const { call, early, late } = shared
  let failure: GatewayError | undefined
  /** What could not be had for one channel is not asked for again: another may take the address itself. */
  let unfetched = false
  const queue = [...candidates]
  for (const [place, candidate] of queue.entries()) {
    if (running.stopped !== undefined) break
    const channel = channels.get(candidate.channel)
    const request = session?.form(candidate) ?? asked.request
    const concern = media.concerns(request, candidate)
    if (concern === 'change' && unfetched) continue
    const ready = concern ? await media.ready(request, candidate, fetching).catch(toFailure) : request
    if (ready instanceof GatewayError) {
      if (call.reply.gone) throw GONE
      failure = ready
      unfetched ||= concern === 'change'
      continue
    }
    const echo = session?.echo(candidate)
    const stored = session?.stored(candidate)
    try {
      await attempt({ ...shared, request: ready, candidate, channel, echo, stored, deliver: delivery(request) })
      return
    } catch (thrown) {
      early?.withdraw()
      if (call.reply.gone) throw GONE
      if (running.stopped !== undefined) break
      if (late?.fault !== undefined && !call.reply.begun) throw late.fault
      const seen = candidateFailure(thrown, { candidate, channel, model: request.model, log })
      if (call.reply.begun || isSpent(asked) || shared.submission?.isSpent === true) throw seen
      if (session?.forgot(candidate, seen.error) === true) queue.splice(place + 1, 0, candidate)
      else if (!mayRetry(seen.error)) throw seen
      failure = moreUsefulFailure(failure, seen)
    }
  }
  throw running.stopped ?? failure ?? NOBODY
}

const NOBODY = new GatewayError({ kind: 'overloaded', message: 'No channel can take this request.' })

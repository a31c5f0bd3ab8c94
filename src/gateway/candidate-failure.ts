import { GatewayError, OwnFailure } from '../canonical/error.ts'
import type { Channel } from '../channel/index.ts'
import type { Log } from '../log/index.ts'
import type { Candidate } from '../router.ts'
import { headersOf, logMessage, publicError, toFailure, UpstreamFailure } from './failures.ts'
import { rest } from './rest.ts'
import { loggable } from './scrub.ts'
import { withoutAddresses } from './secrets.ts'

interface Failed {
  readonly candidate: Candidate
  readonly channel: Channel
  /** As the caller named it. */
  readonly model: string
  readonly log: Log
}

/** The failure of one candidate: what failed rests, the reason is logged, and the caller gets it without secrets. */
export function candidateFailure(thrown: unknown, { candidate, channel, model, log }: Failed): GatewayError {
  const failure = toFailure(thrown)
  const { error, cause } = failure
  if (error.kind === 'internal' && cause !== undefined)
    return new GatewayError(error, { cause: loggable(cause, candidate) })
  if (failure instanceof OwnFailure) return failure
  if (error.kind !== 'cannot-express') {
    const rested = rest(channel, candidate, error)
    const said = logMessage(error, candidate)
    const { kind, status } = error
    const seen = { at: Date.now(), kind, message: withoutAddresses(said), model: candidate.upstreamModel }
    channel.stats.failed(status === undefined ? seen : { ...seen, status })
    const fields = {
      channel: candidate.channel.name,
      model: candidate.upstreamModel,
      kind,
      status,
      ...rested,
      said,
      err: loggable(cause, candidate),
    }
    log.warn(fields, 'a channel failed')
  }
  return new UpstreamFailure(publicError(error, candidate, model), headersOf(failure))
}

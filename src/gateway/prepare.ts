import type { GatewayError } from '../canonical/error.ts'
import type { WireRequest } from '../canonical/exchange.ts'
import type { Loss } from '../canonical/loss.ts'
import { repair } from '../canonical/repair.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type Restorer, restorer } from '../canonical/restore.ts'
import type { OnLoss } from '../config.ts'
import { WRITERS } from '../egress/index.ts'
import { essential, refusal, shown } from '../egress/losses.ts'
import type { Candidate } from '../router.ts'

/** A request as one candidate gets it. */
export interface Prepared {
  /** What was written: the caller's request under the upstream's model id, repaired for a foreign format. */
  readonly asked: CanonicalRequest
  readonly wire: WireRequest
  readonly losses: readonly Loss[]
  readonly restorer: Restorer | undefined
  /** The caller speaks the upstream's format. */
  readonly native: boolean
}

/** Writes the request for a candidate. Throws GatewayError `cannot-express` where its format has no such request. */
export function prepare(request: CanonicalRequest, { format, native, upstreamModel }: Candidate): Prepared {
  const repaired = native ? { request, losses: [] } : repair(request)
  const asked = upstreamModel === request.model ? repaired.request : { ...repaired.request, model: upstreamModel }
  const written = WRITERS[format.format]!.request!(asked, { dialect: format.dialect, native })
  return {
    asked,
    wire: written.wire,
    losses: repaired.losses.length === 0 ? written.losses : [...repaired.losses, ...written.losses],
    restorer: restorer(asked, written.renamed),
    native,
  }
}

/** The refusal a request meets on its way to a candidate, if it meets one: what is lost is too much. */
export function refused(request: CanonicalRequest, losses: readonly Loss[], onLoss: OnLoss): GatewayError | undefined {
  if (losses.length === 0) return undefined
  const tooMuch = onLoss === 'refuse' ? shown(losses) : essential(losses, request)
  return tooMuch.length === 0 ? undefined : refusal(tooMuch)
}

/** How bad a candidate is for the request: a refusal weighs more than any number of losses. */
export function weigh(request: CanonicalRequest, candidate: Candidate, onLoss: OnLoss): number {
  try {
    const { asked, losses } = prepare(request, candidate)
    return shown(losses).length + (refused(asked, losses, onLoss) === undefined ? 0 : REFUSAL)
  } catch {
    return REFUSAL
  }
}

const REFUSAL = 1_000_000

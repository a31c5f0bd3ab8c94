import type { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import { repairedHistory } from '../canonical/repaired-history.ts'
import { type CanonicalRequest, isTextOnly } from '../canonical/request.ts'
import { type Restorer, restorer } from '../canonical/restore.ts'
import { tracedToOriginal } from '../canonical/trace.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { OnLoss } from '../config/index.ts'
import { markDefaults } from '../egress/defaults.ts'
import { WRITERS } from '../egress/index.ts'
import { essentialLosses, refusableLosses, refusal } from '../egress/losses.ts'
import { allowedBetas } from '../formats/index.ts'
import type { Target } from '../upstreams/router.ts'
import { type LossContext, locateLosses } from './locate-losses.ts'
import { withUpstreamModels } from './named-models.ts'
import type { Report } from './report.ts'
import { withOwnSignatures } from './thoughts/own-signatures.ts'
import type { OwnerReasoning } from './thoughts/reasoning-memory.ts'
import type { Recalled } from './thoughts/recalled.ts'
import type { Signers } from './thoughts/signers.ts'

/** A request as written for one target. */
export interface Prepared {
  /** The caller's request with the upstream's model id, repaired for a foreign format. */
  readonly request: CanonicalRequest
  readonly wire: WireRequest
  /** Losses at their paths in the caller's request. */
  readonly losses: readonly Loss[]
  readonly restorer: Restorer | undefined
  /** Remembered reasoning that was restored in the request. */
  readonly recalled: Recalled | undefined
  /** True if caller and upstream use the same format. */
  readonly native: boolean
}

/** Fields of an attempt that determine how its request is written and where its losses are reported. */
interface WriteContext extends LossContext {
  readonly incoming: LossContext['incoming'] & { readonly onLoss: OnLoss; readonly report: Report }
  readonly target: Target
  readonly reasoning: OwnerReasoning | undefined
  readonly signers: Signers | undefined
  readonly mayBeSigned: boolean
}

/**
 * Writes a request for an attempt's target.
 *
 * @param request the attempt's own request, or one that an emulation derives from it.
 * @throws GatewayError `cannot-express` if the upstream's format has no such request, or if the request would lose too
 * much.
 */
export function writeRequest(attempt: WriteContext, request: CanonicalRequest = attempt.request): Prepared {
  const { report, onLoss } = attempt.incoming
  const ownReasoning = withOwnSignatures(request, attempt.target, attempt.mayBeSigned ? attempt.signers : undefined)
  const written = prepare(ownReasoning.request, attempt.target, attempt.reasoning)
  const prepared = ownReasoning.losses.length === 0 ? written : withEarlierLosses(written, ownReasoning.losses, request)
  report.recordRestoredReasoning(prepared.recalled?.count)
  const locate = (lost: readonly Loss[]) => (request === attempt.request ? locateLosses(lost, attempt) : lost)
  const refusal = refusalFor(request, prepared.losses, onLoss, locate)
  if (refusal !== undefined) throw refusal
  return prepared
}

/** Adds the losses of an edit made before the request was written. */
const withEarlierLosses = (prepared: Prepared, losses: readonly Loss[], { messages }: CanonicalRequest): Prepared => ({
  ...prepared,
  losses: [...losses, ...tracedToOriginal(prepared.losses, losses, messages)],
})

/**
 * Writes a request for a target and restores the caller's remembered reasoning.
 *
 * @throws GatewayError `cannot-express` if the target's format has no such request.
 */
export function prepare(original: CanonicalRequest, target: Target, reasoning?: OwnerReasoning): Prepared {
  const { channel, format, native, upstreamModel } = target
  const textOnly = isTextOnly(original)
  const recalled = textOnly ? undefined : reasoning?.recall(original, target)
  const restored = recalled?.request ?? original
  const { history, losses } = repairedHistory(restored, native, textOnly)
  const request = upstreamModel === restored.model ? history : { ...history, model: upstreamModel }
  const { dialect, otherModel } = format
  const passesBeta = (beta: string): boolean => allowedBetas(channel.betas, beta) !== undefined
  const written = WRITERS[format.format]!.request!(request, { dialect, native, otherModel, passesBeta })
  const { wire } = written
  const body = native ? withUpstreamModels(wire.body, format.format, channel) : wire.body
  const repairedLosses = losses(written.losses)
  return {
    request,
    wire: body === wire.body ? wire : { ...wire, body },
    losses: markDefaults(recalled?.lossesOf(repairedLosses) ?? repairedLosses, original),
    restorer: restorer(written.renamed, {
      wrapsEnum: !native && restored.output.text?.shape === 'enum',
      mayBeFenced: written.mayBeFenced,
    }),
    recalled,
    native,
  }
}

const sameLosses = (found: readonly Loss[]): readonly Loss[] => found

/**
 * Returns the error for a request that would lose too much, or undefined if the losses are acceptable.
 *
 * @param locate maps losses to their paths in the caller's body.
 */
export function refusalFor(
  request: CanonicalRequest,
  losses: readonly Loss[],
  onLoss: OnLoss,
  locate = sameLosses,
): GatewayError | undefined {
  if (losses.length === 0) return undefined
  const refusableOnes = onLoss === 'refuse' ? refusableLosses(losses) : essentialLosses(losses, request)
  return refusableOnes.length === 0 ? undefined : refusal(refusableOnes, locate(refusableOnes))
}

/** Scores how badly a target fits the request: by the number of losses, which a refusal always exceeds. */
export function lossScore(request: CanonicalRequest, target: Target, onLoss: OnLoss): number {
  try {
    const { losses } = prepare(request, target)
    return refusableLosses(losses).length + (refusalFor(request, losses, onLoss) === undefined ? 0 : REFUSAL_SCORE)
  } catch {
    return REFUSAL_SCORE
  }
}

/** Score of a refusal, higher than the number of losses of any request. */
const REFUSAL_SCORE = 1_000_000

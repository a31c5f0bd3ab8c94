import { defined } from '../../../canonical/node.ts'
import type { ChannelConfig } from '../../../config/index.ts'
import { instantOf } from '../../../config/schema.ts'
import type { ChannelState } from '../../../gateway/channel-states.ts'
import { failingSince } from '../../../upstreams/channel/health.ts'
import { rateOf } from '../rates.ts'

const INITIAL_STATE: ChannelState = { inFlight: 0, drained: false, resting: [], stats: { minutes: [], errors: [] } }

/** Formats the keys of a channel's pool. Only the last characters of a key leave the gateway. */
export const keysView = (keys: readonly ChannelConfig[], { keys: states = {} }: ChannelState, workers: number) => ({
  keys: keys.map(key => keyView(key, states[key.pooled!.id] ?? INITIAL_STATE, workers)),
  keys_share_account: keys[0]?.pooled?.accountKey !== undefined,
})

function keyView({ weight, maxConcurrent, pooled }: ChannelConfig, state: ChannelState, workers: number) {
  const { ending, rpm, tpm } = pooled!
  const { restingUntil, refusal, inFlight, resting, stats } = state
  return {
    ...{ ending, weight, in_flight: inFlight, state: stateName(state, maxConcurrent, workers) },
    ...defined({
      ...{ max_concurrent: maxConcurrent, rpm, tpm, refusal },
      resting_until: restingUntil === undefined ? undefined : instantOf(restingUntil),
    }),
    resting_models: resting.map(([model, until]) => ({ model, until: instantOf(until) })),
    last_5_minutes: rateOf(stats, 5),
    last_60_minutes: rateOf(stats, 60),
  }
}

/** Returns the state of a key: of several states, the one that is most urgent for an operator. */
function stateName(
  { refusal, inFlight, isSpent, restingUntil, stats }: ChannelState,
  limit = Number.POSITIVE_INFINITY,
  workers: number,
): 'ok' | 'failing' | 'resting' | 'refused' | 'full' {
  if (refusal !== undefined && restingUntil !== undefined) return 'refused'
  if (failingSince(stats) !== undefined) return 'failing'
  if (isSpent === true || inFlight >= limit * workers) return 'full'
  return restingUntil === undefined ? 'ok' : 'resting'
}

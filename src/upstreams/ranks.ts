import type { ChannelConfig } from '../config/types.ts'
import type { ModelOrder } from '../formats/model-facts.ts'
import type { Prices } from './catalogue/rates.ts'
import type { Channel } from './channel/index.ts'
import { drawOf } from './draw.ts'

/** Rank of a target among channels that are equal by all criteria except the draw. The lowest rank comes first. */
export type Rank = (target: { readonly channel: ChannelConfig; readonly upstreamModel: string }, draw: string) => number

/** Facts that determine ranks. */
interface RankFacts {
  /** Public id of the model. */
  readonly model: string
  readonly channels: readonly Pick<Channel, 'config' | 'latencies'>[]
  readonly prices: Prices | undefined
}

/** Returns the function that ranks a model's channels, or undefined if only the draw by weight decides. */
export function rankBy(order: ModelOrder | undefined, { model, channels, prices }: RankFacts): Rank | undefined {
  if (order === 'latency') {
    return ({ channel, upstreamModel }, draw) => {
      if (explores(draw)) return 0
      return latencySteps(channels.find(({ config }) => config === channel)?.latencies.of(upstreamModel))
    }
  }
  if (order !== 'cost' || prices === undefined) return undefined
  return ({ channel: { provider }, upstreamModel }) =>
    prices.cost({ model, upstreamModel, provider }, TYPICAL_USAGE) ?? Number.MAX_VALUE
}

/** Token counts for the comparison of prices. Agents read far more than they write. */
const TYPICAL_USAGE = { input: 4000, output: 1000 }

/** Share of conversations whose channel is drawn by weight, so that slow channels are measured again. */
const EXPLORATION_SHARE = 0.05
/** Upper bound of a draw's number for such conversations. The number is exponentially distributed. */
const EXPLORATION_BOUND = -Math.log(1 - EXPLORATION_SHARE)

const explores = (draw: string): boolean => drawOf(draw, 'explore', 1) < EXPLORATION_BOUND

/** Minimum ratio of two latencies that count as different. Conversations do not move for smaller differences. */
const STEP_FACTOR = 1.5

/** Returns the latency in steps. A channel without a measurement comes first, so that it is measured. */
const latencySteps = (milliseconds: number | undefined): number =>
  milliseconds === undefined ? -1 : Math.round(Math.log(Math.max(1, milliseconds)) / Math.log(STEP_FACTOR))

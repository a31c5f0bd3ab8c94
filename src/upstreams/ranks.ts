import type { Usage } from '../canonical/result.ts'
import type { Work } from '../canonical/work.ts'
import type { ChannelConfig } from '../config/types.ts'
import type { ModelOrder } from '../formats/model-facts.ts'
import type { BilledFacts } from './catalogue/billed-facts.ts'
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
  readonly work: Work
}

/** Returns the function that ranks a model's channels, or undefined if only the draw by weight decides. */
export function rankBy(order: ModelOrder | undefined, { model, channels, prices, work }: RankFacts): Rank | undefined {
  if (order === 'latency') {
    return ({ channel, upstreamModel }, draw) => {
      if (explores(draw)) return 0
      return latencySteps(channels.find(({ config }) => config === channel)?.latencies.of(upstreamModel))
    }
  }
  if (order !== 'cost' || prices === undefined) return undefined
  const [usage, facts] = TYPICAL_ANSWERS[work] ?? TYPICAL_TEXT
  return ({ channel: { provider }, upstreamModel }) =>
    prices.cost({ model, upstreamModel, provider }, usage, facts) ?? Number.MAX_VALUE
}

/** Token counts of a typical answer, and what an upstream may bill instead of them. */
type TypicalAnswer = readonly [usage: Usage, facts?: BilledFacts]

/** Answer for the comparison of prices. Agents read far more than they write. */
const TYPICAL_TEXT: TypicalAnswer = [{ input: 4000, output: 1000 }]

/** Answers for the comparison of prices of other kinds of work: one image, one minute of speech. */
const TYPICAL_ANSWERS: { readonly [W in Work]?: TypicalAnswer } = {
  embedding: [{ input: 4000 }],
  ranking: [{ input: 4000 }, { rankings: 1 }],
  image: [{ input: 100, output: 1000, outputBy: { image: 1000 } }, { images: 1 }],
  speech: [{ input: 200, output: 1200, outputBy: { audio: 1200 } }, { characters: 900 }],
  transcription: [{ input: 600, output: 200, inputBy: { audio: 600 } }, { seconds: 60 }],
  video: [{}, { videoSeconds: 8 }],
}

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

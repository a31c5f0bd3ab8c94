import { mergedStats, type StatsSnapshot } from '../upstreams/channel/health.ts'
import type { Channel } from '../upstreams/channel/index.ts'

/** A channel as one process sees it, or several together; plain JSON. Times are Unix milliseconds. */
export interface ChannelState {
  readonly inFlight: number
  readonly drained: boolean
  /** How many models its upstream lists, where that is needed and known. */
  readonly listed?: number
  readonly restingUntil?: number
  /** Models that rest, by the upstream's own names. */
  readonly resting: readonly (readonly [model: string, until: number])[]
  readonly stats: StatsSnapshot
}

/** By the names of the channels. */
export interface ChannelStates {
  readonly [channel: string]: ChannelState
}

/** The channels of this process. */
export const statesOf = (channels: readonly Channel[], now = Date.now()): ChannelStates =>
  Object.fromEntries(channels.map(channel => [channel.config.name, stateOf(channel, now)]))

function stateOf({ health, stats }: Channel, now: number): ChannelState {
  const { inFlight, restingUntil = 0, resting = new Map<string, number>(), drained = false, listed } = health
  return {
    ...{ inFlight, drained },
    ...(restingUntil > now ? { restingUntil } : {}),
    ...(listed === undefined ? {} : { listed: listed.size }),
    resting: [...resting].filter(([, until]) => until > now),
    stats: stats.snapshot(now),
  }
}

/** What several processes see, together: what rests at one of them rests. */
export function mergedStates(all: readonly ChannelStates[]): ChannelStates {
  const names = new Set(all.flatMap(states => Object.keys(states)))
  return Object.fromEntries(
    [...names].map(name => [name, merged(all.flatMap(states => (Object.hasOwn(states, name) ? [states[name]!] : [])))]),
  )
}

function merged(states: readonly ChannelState[]): ChannelState {
  const restingUntil = Math.max(...states.map(state => state.restingUntil ?? 0))
  const listed = states.flatMap(state => state.listed ?? [])
  const resting = new Map<string, number>()
  for (const [model, until] of states.flatMap(state => state.resting))
    resting.set(model, Math.max(until, resting.get(model) ?? 0))
  return {
    inFlight: states.reduce((sum, state) => sum + state.inFlight, 0),
    drained: states.some(({ drained }) => drained),
    ...(restingUntil === 0 ? {} : { restingUntil }),
    ...(listed.length === 0 ? {} : { listed: Math.max(...listed) }),
    resting: [...resting],
    stats: mergedStats(states.map(({ stats }) => stats)),
  }
}

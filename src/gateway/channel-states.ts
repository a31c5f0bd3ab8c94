import type { ErrorKind } from '../canonical/error.ts'
import { mergedStats, type StatsSnapshot } from '../upstreams/channel/health.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import { isOngoing } from '../upstreams/channel-health.ts'

/** State of a channel in one process, or merged over several. Plain JSON. Times are Unix milliseconds. */
export interface ChannelState {
  readonly inFlight: number
  readonly drained: boolean
  /** Number of models in the upstream's list, if the channel needs that list and has it. */
  readonly listed?: number
  readonly restingUntil?: number
  /** Resting models by upstream name, each with the end of its rest. */
  readonly resting: readonly (readonly [model: string, until: number])[]
  readonly stats: StatsSnapshot
  /** Moving averages of the time to the first byte of streamed answers, in milliseconds, by upstream model name. */
  readonly latencies?: readonly (readonly [model: string, milliseconds: number])[]
  /** Kind of the error with which the upstream permanently refused the key. Only for keys of a pool. */
  readonly refusal?: ErrorKind
  /** True if a key of a pool has used up its own requests or tokens per minute. */
  readonly isSpent?: true
  /** Keys of the channel's pool by id. Absent if the channel has no pool. */
  readonly keys?: ChannelStates
}

/** Channel states by channel name. */
export interface ChannelStates {
  readonly [channel: string]: ChannelState
}

/** Returns the states of this process's channels. */
export const statesOf = (channels: readonly Channel[], now = Date.now()): ChannelStates =>
  Object.fromEntries(channels.map(channel => [channel.config.name, stateOf(channel, now)]))

function stateOf({ health, stats, latencies, resting: { refusal }, keys }: Channel, now: number): ChannelState {
  const { inFlight, restingUntil = 0, resting = new Map<string, number>(), drained = false, listed, isSpent } = health
  return {
    ...{ inFlight, drained },
    ...(isOngoing(restingUntil, now) ? { restingUntil } : {}),
    ...(listed === undefined ? {} : { listed: listed.size }),
    resting: [...resting].filter(([, until]) => isOngoing(until, now)),
    stats: stats.snapshot(now),
    latencies: latencies.all,
    ...(refusal === undefined ? {} : { refusal }),
    ...(isSpent === true ? { isSpent } : {}),
    ...(keys === undefined
      ? {}
      : { keys: Object.fromEntries(keys.map(key => [key.config.pooled!.id, stateOf(key, now)])) }),
  }
}

/**
 * Merges the states of several processes. A channel or model that rests in any process rests in the merged state, until
 * the latest of their times.
 */
export function mergedStates(all: readonly ChannelStates[]): ChannelStates {
  const names = new Set(all.flatMap(states => Object.keys(states)))
  return Object.fromEntries(
    [...names].map(name => [
      name,
      mergedState(all.flatMap(states => (Object.hasOwn(states, name) ? [states[name]!] : []))),
    ]),
  )
}

function mergedState(states: readonly ChannelState[]): ChannelState {
  const restingUntil = Math.max(...states.map(state => state.restingUntil ?? 0))
  const listed = states.flatMap(state => state.listed ?? [])
  const resting = new Map<string, number>()
  for (const [model, until] of states.flatMap(state => state.resting))
    resting.set(model, Math.max(until, resting.get(model) ?? 0))
  const refusal = states.find(state => state.refusal !== undefined)?.refusal
  const latencies = Map.groupBy(
    states.flatMap(state => state.latencies ?? []),
    ([model]) => model,
  )
  const keys = states.map(state => state.keys).filter(pool => pool !== undefined)
  return {
    inFlight: states.reduce((sum, state) => sum + state.inFlight, 0),
    drained: states.some(({ drained }) => drained),
    ...(restingUntil === 0 ? {} : { restingUntil }),
    ...(listed.length === 0 ? {} : { listed: Math.max(...listed) }),
    resting: [...resting],
    stats: mergedStats(states.map(({ stats }) => stats)),
    latencies: [...latencies].map(([model, all]) => [model, all.reduce((sum, [, one]) => sum + one, 0) / all.length]),
    ...(refusal === undefined ? {} : { refusal }),
    ...(states.every(({ isSpent }) => isSpent === true) ? { isSpent: true as const } : {}),
    ...(keys.length === 0 ? {} : { keys: mergedStates(keys) }),
  }
}

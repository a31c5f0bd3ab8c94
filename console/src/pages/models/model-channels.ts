import type { Channel, Model } from '../../api/types.ts'
import { type ChannelState, stateAt } from '../../catalogue/channel-state.tsx'

/** Channels as they are now, by their names. */
export type Channels = ReadonlyMap<string, Channel>

/** How a model is at one of its channels: as the channels were read last, which is more often than models are. */
export function stateOf({ name, upstream_model, state }: Model['channels'][number], channels: Channels): ChannelState {
  const channel = channels.get(name)
  return channel === undefined ? state : stateAt(channel, upstream_model)
}

/** The best state that a model is in anywhere; undefined where no channel has it. */
export function bestState({ channels: its }: Model, channels: Channels): ChannelState | undefined {
  const states = new Set(its.map(one => stateOf(one, channels)))
  return (['ok', 'resting', 'full', 'drained'] as const).find(state => states.has(state))
}

export const okCount = ({ channels: its }: Model, channels: Channels): number =>
  its.filter(one => stateOf(one, channels) === 'ok').length

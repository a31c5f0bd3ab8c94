import type { Channel, Model } from '../../api/types.ts'
import { type ChannelState, stateAt } from '../../catalogue/channel-state.tsx'

/** Current channels, by name. */
export type Channels = ReadonlyMap<string, Channel>

/** State of a model on one of its channels. The channels' state wins, because channels are refreshed more often. */
export function stateOf({ name, upstream_model, state }: Model['channels'][number], channels: Channels): ChannelState {
  const channel = channels.get(name)
  return channel === undefined ? state : stateAt(channel, upstream_model)
}

/** Best state of a model on any channel. Undefined if no channel serves it. */
export function bestState({ channels: its }: Model, channels: Channels): ChannelState | undefined {
  const states = new Set(its.map(one => stateOf(one, channels)))
  return (['ok', 'resting', 'failing', 'full', 'drained'] as const).find(state => states.has(state))
}

/** Number of channels on which a model's state is `ok`. */
export const okCount = ({ channels: its }: Model, channels: Channels): number =>
  its.filter(one => stateOf(one, channels) === 'ok').length

import type { Channel } from '../channel/index.ts'
import type { Readings, Sample } from '../metrics/index.ts'
import type { Running } from './running.ts'

/** The requests that are being answered, by whether any of their answer was sent. */
export const openRequests = ({ counts }: Running): readonly Sample[] =>
  Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }))

/** What metrics tell of channels. */
export function channelReadings(all: () => readonly Channel[]): Readings {
  const each = (read: (channel: Channel) => number) => (): readonly Sample[] =>
    all().map(channel => ({ labels: { channel: channel.config.name }, value: read(channel) }))
  return {
    interlingua_channel_in_flight: each(({ health }) => health.open),
    interlingua_channel_resting: each(({ resting }) => resting.count(Date.now()).channels),
    interlingua_channel_resting_models: each(({ resting }) => resting.count(Date.now()).models),
  }
}

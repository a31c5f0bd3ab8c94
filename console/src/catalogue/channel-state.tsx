import type { Channel } from '../api/types.ts'
import { ago, time } from '../format.ts'
import { catalogue } from '../i18n/catalogue.ts'
import { Badge, type Tone } from '../ui/badge.tsx'

export type ChannelState = Channel['state']

export const TONES: { readonly [S in ChannelState]: Tone } = {
  ok: 'good',
  resting: 'warn',
  drained: 'neutral',
  full: 'bad',
}

interface StateBadgeProps {
  readonly state: ChannelState
  /** When a rest ends. */
  readonly until?: string | undefined
}

/** How a channel is, or a model at it. */
export const StateBadge = ({ state, until }: StateBadgeProps) => (
  <Badge tone={TONES[state]} dot title={titleOf(state, until)}>
    {catalogue().states[state]}
  </Badge>
)

const titleOf = (state: ChannelState, until: string | undefined): string => {
  const meaning = catalogue().stateMeanings[state]
  return until === undefined ? meaning : `${meaning} (${ago(until)}, ${time(until, 'full')})`
}

/** How a model is at a channel: the channel's own state first. */
export function stateAt(channel: Channel, upstreamModel: string): ChannelState {
  const rests = channel.resting_models.some(({ model }) => model === upstreamModel)
  return channel.state === 'ok' && rests ? 'resting' : channel.state
}

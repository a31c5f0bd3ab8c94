import type { Channel } from '../api/types.ts'
import { ago, time } from '../format.ts'
import { catalogue } from '../i18n/catalogue.ts'
import { Badge, type Tone } from '../ui/badge.tsx'

export type ChannelState = Channel['state']

/** Colour of each state's badge. */
export const TONES: { readonly [S in ChannelState]: Tone } = {
  ok: 'good',
  failing: 'bad',
  resting: 'warn',
  drained: 'neutral',
  full: 'bad',
  unusable: 'bad',
}

interface StateBadgeProps {
  readonly state: ChannelState
  /** ISO time at which a resting channel or model is used normally again. */
  readonly until?: string | undefined
}

/** Badge with the state of a channel, or of a model on a channel. */
export const StateBadge = ({ state, until }: StateBadgeProps) => (
  <Badge tone={TONES[state]} dot title={titleOf(state, until)}>
    {catalogue().states[state]}
  </Badge>
)

const titleOf = (state: ChannelState, until: string | undefined): string => {
  const meaning = catalogue().stateMeanings[state]
  return until === undefined ? meaning : `${meaning} (${ago(until)}, ${time(until, 'full')})`
}

/** State of a model on a channel. A channel state other than `ok` applies to all its models. */
export function stateAt(channel: Channel, upstreamModel: string): ChannelState {
  const rests = channel.resting_models.some(({ model }) => model === upstreamModel)
  return channel.state === 'ok' && rests ? 'resting' : channel.state
}

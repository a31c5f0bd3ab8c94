import type { ChannelConfig, ChannelModels } from '../../config/types.ts'
import { baseUrlFor } from '../../formats/formats.ts'
import type { Case } from './fixtures.ts'
import type { Mock } from './index.ts'
import { modelOf } from './pick.ts'

/**
 * Sets the URL of the mock's channels. A mock channel without models of its own answers the model `replay` in every
 * format. In addition, each format gets a channel whose models are that format's fixtures. If they are requested at
 * another format's endpoint, they are translated.
 */
export const withMock = (channels: readonly ChannelConfig[], mock: Mock): ChannelConfig[] =>
  channels.flatMap(channel => {
    if (channel.provider !== 'replay') return [channel]
    const formats = channel.formats.map(one => ({ ...one, baseUrl: baseUrlFor(one.format, mock.url, true) }))
    // The mock needs no key.
    const { keys: _, ...rest } = channel
    const whole = { ...rest, formats }
    return isPreset(channel.models) ? [whole, ...channelsByFormat(whole, mock.cases)] : [whole]
  })

const isPreset = ({ named, patterns }: ChannelModels): boolean =>
  patterns.length === 0 && named.size === 1 && named.get('replay') === 'replay'

function channelsByFormat(channel: ChannelConfig, cases: readonly Case[]): ChannelConfig[] {
  return channel.formats.flatMap(format => {
    const ids = cases.filter(one => one.format === format.format).map(modelOf)
    if (ids.length === 0) return []
    const models = { named: new Map(ids.map(id => [id, id])), patterns: [] }
    return [{ ...channel, name: `${channel.name}-${format.format}`, formats: [format], models }]
  })
}

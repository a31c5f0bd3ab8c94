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
    if (channel.provider !== 'replay' || channel.folder !== undefined) return [channel]
    const formats = formatsAtUrl(channel, mock.url)
    // The mock needs no key.
    const { keys: _, ...rest } = channel
    const whole = { ...rest, formats }
    return isPreset(channel.models) ? [whole, ...channelsByFormat(whole, mock.cases)] : [whole]
  })

/** Sets the URL of a channel whose models are those of its recordings, unless the channel has models of its own. */
export function withFolder(channel: ChannelConfig, { url, models }: ServedFolder): ChannelConfig {
  const { keys: _, ...rest } = channel
  const { named, patterns } = channel.models
  const isOpen = named.size === 0 && patterns.length === 0
  return {
    ...rest,
    formats: formatsAtUrl(channel, url),
    models: isOpen ? { named: new Map(models.map(id => [id, id])), patterns } : channel.models,
  }
}

/** A folder of recordings that is served, and the models that they request. */
export interface ServedFolder {
  readonly url: string
  readonly models: readonly string[]
}

const formatsAtUrl = ({ formats }: ChannelConfig, url: string): ChannelConfig['formats'] =>
  formats.map(one => ({ ...one, baseUrl: baseUrlFor(one.format, url, true) }))

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

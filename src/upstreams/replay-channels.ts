import { join } from 'node:path'
import type { ChannelConfig, ChannelModels, Config } from '../config/types.ts'
import { baseUrlFor } from '../formats/formats.ts'
import { ROOT } from '../root.ts'

/** Folder of the demo recordings. The provider `replay` serves them if no folder is configured. */
export const DEMO_FOLDER: string = join(ROOT, 'fixtures', 'demo')

/** The demo model that answers every request. */
export const ANY_MODEL = 'replay'

/** A folder of recordings that is served at a URL, with the models in the recorded requests. */
export interface ServedFolder {
  readonly url: string
  readonly models: readonly { readonly id: string; readonly format?: string }[]
}

/** A folder that is served until it is closed. */
export type OpenFolder = ServedFolder & { close(): Promise<void> }

/** Sets the URL of a channel. If the channel configures no models, adds those of the recordings. */
export function withFolder(channel: ChannelConfig, { url, models }: ServedFolder): ChannelConfig {
  const { named, patterns } = channel.models
  const hasNoModels = named.size === 0 && patterns.length === 0
  return {
    ...atUrl(channel, url),
    models: hasNoModels ? { named: new Map(models.map(({ id }) => [id, id])), patterns } : channel.models,
  }
}

/**
 * Returns the channels of the demo. The first channel serves the model `replay` in every recorded format. Unless the
 * config lists models, there is another channel for each format, with the other models in its recordings. Requests for
 * these models at endpoints of other formats are translated.
 */
export function demoChannels(channel: ChannelConfig, { url, models }: ServedFolder): ChannelConfig[] {
  const recordedFormats = new Set(models.map(({ format }) => format))
  const formats = channel.formats.filter(({ format }) => recordedFormats.has(format))
  const demoChannel = atUrl({ ...channel, formats }, url)
  if (!hasOnlyAnyModel(channel.models)) return [demoChannel]
  const byFormat = demoChannel.formats.flatMap(format => {
    const ids = models.flatMap(model => (model.format === format.format && model.id !== ANY_MODEL ? [model.id] : []))
    const named = new Map(ids.map(id => [id, id]))
    const name = `${channel.name}-${format.format}`
    return ids.length === 0 ? [] : [{ ...demoChannel, name, formats: [format], models: { named, patterns: [] } }]
  })
  return [demoChannel, ...byFormat]
}

/** Sets the URL of a channel and removes its pool of keys, because recordings need no keys. */
function atUrl({ keys: _, ...channel }: ChannelConfig, url: string): ChannelConfig {
  return {
    ...channel,
    formats: channel.formats.map(model => ({ ...model, baseUrl: baseUrlFor(model.format, url, true) })),
  }
}

const hasOnlyAnyModel = ({ named, patterns }: ChannelModels): boolean =>
  patterns.length === 0 && named.size === 1 && named.get(ANY_MODEL) === ANY_MODEL

/** Removes the demo from a config: its channels, and the voice cascade that it adds. */
export function withoutDemo(config: Config): Config {
  const { cascade, ...realtime } = config.realtime
  return { ...config, channels: [], realtime: cascade?.speech === ANY_MODEL ? realtime : config.realtime }
}

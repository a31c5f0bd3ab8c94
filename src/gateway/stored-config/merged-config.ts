import type { PathFault } from '../../config/issues.ts'
import { joinSecrets, type Secrets } from '../../config/secret-fields.ts'
import { checkedChannel, checkedModel } from '../../config/stored-channel.ts'
import type { ChannelConfig, Config, ModelFacts } from '../../config/types.ts'
import type { Env } from '../../config/variable.ts'
import type { EntryKind, StoredEntry } from '../../store/config-records.ts'
import { withoutDemo } from '../../upstreams/replay-channels.ts'

/** A stored entry with its decrypted secrets, or the reason why they cannot be decrypted. */
export interface OpenedEntry {
  readonly entry: StoredEntry
  readonly secrets?: Secrets | undefined
  readonly fault?: string | undefined
}

/** A stored entry and its effect. */
export interface StoredRow {
  readonly entry: StoredEntry
  /** Faults that prevent the entry from taking effect. Paths are relative to its settings. */
  readonly faults: readonly PathFault[]
  /** True if the config file has an entry of the same name, which is in use instead. */
  readonly isShadowed: boolean
}

/** Returns the stored entry of a kind and name. */
export const rowNamed = (rows: readonly StoredRow[], kind: EntryKind, name: string): StoredRow | undefined =>
  rows.find(({ entry }) => entry.kind === kind && entry.name === name)

/** The config in use, and the effect of each stored entry. */
export interface MergedConfig {
  readonly config: Config
  readonly rows: readonly StoredRow[]
}

/**
 * Adds stored channels and model settings to the config file. If both have an entry of the same name, the file's entry
 * is used. Stored channels replace channels of the same name from the environment, and the demo.
 */
export function mergedConfig(file: Config, entries: readonly OpenedEntry[], env: Env): MergedConfig {
  const hasChannels = entries.some(({ entry }) => entry.kind === 'channel')
  const base = hasChannels && file.channelsFrom === 'demo' ? withoutDemo(file) : file
  const fileChannels = new Set(base.channelsFrom === 'config' ? base.channels.map(({ name }) => name) : [])
  const channels = new Map<string, ChannelConfig>()
  const models = new Map<string, ModelFacts>()
  const rows = entries.map((decryptedEntry): StoredRow => {
    const { entry } = decryptedEntry
    const { kind, name } = entry
    const isShadowed = kind === 'channel' ? fileChannels.has(name) : base.models.has(name)
    const { faults, channel, model } = checkedEntry(decryptedEntry, base, env)
    if (!isShadowed && channel !== undefined) channels.set(name, channel)
    if (!isShadowed && model !== undefined) models.set(name, model)
    return { entry, faults, isShadowed }
  })
  if (!hasChannels && models.size === 0) return { config: file, rows }
  const config = {
    ...base,
    channels: [...base.channels.filter(({ name }) => !channels.has(name)), ...channels.values()],
    models: new Map([...models, ...base.models]),
  }
  return { config, rows }
}

interface CheckedEntry {
  readonly faults: readonly PathFault[]
  readonly channel?: ChannelConfig | undefined
  readonly model?: ModelFacts | undefined
}

/** Checks an entry by the config file's rules. */
function checkedEntry({ entry, secrets, fault }: OpenedEntry, { proxy }: Config, env: Env): CheckedEntry {
  if (secrets === undefined) return { faults: [{ path: [], message: fault ?? '' }] }
  if (entry.kind === 'model') {
    const { faults = [], value } = checkedModel(entry.name, entry.settings)
    return { faults, model: value }
  }
  const settingsWithSecrets = joinSecrets(entry.settings, secrets)
  if (settingsWithSecrets.faults.length > 0) return { faults: settingsWithSecrets.faults }
  const { faults = [], value } = checkedChannel(settingsWithSecrets.channel, { env, proxy })
  return { faults, channel: value }
}

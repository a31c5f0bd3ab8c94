import { readFileSync } from 'node:fs'
import { isObject } from '../canonical/node.ts'
import { describeFault, pathText } from '../config/faults.ts'
import type { Config } from '../config/index.ts'
import type { PathFault } from '../config/issues.ts'
import type { Written } from '../config/secret-fields.ts'
import { readSource } from '../config/source.ts'
import { Services } from '../gateway/services.ts'
import { CredentialKeys } from '../gateway/stored-config/credential-keys.ts'
import { ConfigEditor } from '../gateway/stored-config/editor.ts'
import { rowNamed } from '../gateway/stored-config/index.ts'
import { SILENT } from '../log.ts'
import { CHANNEL_AUDIT } from '../operators/admin/audit.ts'
import type { Store } from '../store/store.ts'
import { recordingFor } from './audited.ts'
import { channelFindings } from './doctor-checks.ts'
import { type Terminal, UsageError } from './outcome.ts'
import { minute, table } from './table.ts'
import { configAt, readStore, withStore } from './with-store.ts'

/** `interlingua channels list`: lists the channels of the config and of the store. */
export async function listChannelsCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  const entries = (await readStore(config, ({ config: records }) => records.entries())) ?? []
  const channels = entries.filter(({ kind }) => kind === 'channel')
  const names = new Set(channels.map(({ name }) => name))
  // Stored channels replace the demo, and environment channels of the same name.
  const isReplaced = (name: string): boolean =>
    config.channelsFrom === 'demo' ? names.size > 0 : config.channelsFrom === 'environment' && names.has(name)
  const fixed = config.channels
    .filter(({ name }) => !isReplaced(name))
    .map(({ name, provider }) => [name, provider, config.channelsFrom, ''])
  const stored = channels.map(({ name, settings, updatedAt }) => [
    ...[name, String(settings['provider'] ?? ''), 'store', minute(updatedAt)],
  ])
  terminal.out(table([['NAME', 'PROVIDER', 'SOURCE', 'CHANGED'], ...fixed, ...stored]))
}

/** `interlingua channels add FILE`: stores all channels of a YAML or JSON file, or none. */
export async function addChannelsCommand(path: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  const channels = channelsIn(path)
  await withStore(config, async store => {
    const editor = editorOf(store, config)
    for (const channel of channels) {
      const name = nameOf(channel, path)
      if (isFixed(config, name)) throw new UsageError(`the config file has a channel "${name}"`)
      const draft = await editor.draft(channel, undefined)
      if (draft.faults !== undefined) throw new UsageError(faultsText(draft.faults, `channel ${name}`))
    }
    for (const channel of channels) {
      const edited = await editor.createChannel(channel, recordingFor(config, 'createChannel')(CHANNEL_AUDIT))
      if ('faults' in edited) throw new UsageError(faultsText(edited.faults, String(channel['name'])))
      if ('refusal' in edited) throw new UsageError(`there is already a channel "${channel['name']}"`)
      terminal.out(`Added ${nameOf(channel, path)}.`)
    }
  })
}

/** `interlingua channels remove NAME`: deletes a stored channel. */
export async function removeChannelCommand(name: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  const entryOf = recordingFor(config, 'deleteChannel')(CHANNEL_AUDIT)
  const dropped = await readStore(config, ({ config: records }) =>
    records.dropEntry('channel', name, isFixed(config, name), entryOf),
  )
  if (dropped !== true) throw new UsageError(`there is no stored channel "${name}"`)
  terminal.out(`Removed ${name}.`)
}

/**
 * `interlingua channels test NAME`: tests a channel of the config or of the store.
 *
 * @returns true if there is no fault.
 */
export async function testChannelCommand(name: string, file: string | undefined, terminal: Terminal): Promise<boolean> {
  const services = new Services(configAt(file), SILENT)
  try {
    await services.open()
    const channel = services.channels.all.find(({ config }) => config.name === name)
    const row = rowNamed(services.storedConfig.rows, 'channel', name)
    if (channel === undefined && row !== undefined) throw new UsageError(faultsText(row.faults, `channel ${name}`))
    if (channel === undefined) throw new UsageError(`there is no channel "${name}"`)
    const findings = await channelFindings(channel, services)
    for (const { level, text, remedy } of findings)
      terminal.out(`${level.padEnd(8)} ${text}${remedy === undefined ? '' : `\n${' '.repeat(9)}${remedy}`}`)
    return findings.every(({ level }) => level !== 'fault')
  } finally {
    await services.close()
  }
}

/** Returns true if the config file has a channel with this name. */
const isFixed = ({ channelsFrom, channels }: Config, name: string): boolean =>
  channelsFrom === 'config' && channels.some(one => one.name === name)

const editorOf = ({ config: records, shared }: Pick<Store, 'config' | 'shared'>, config: Config): ConfigEditor =>
  new ConfigEditor({
    ...{ records, keys: new CredentialKeys(shared, () => config.secrets) },
    surroundings: () => ({ env: process.env, proxy: config.proxy }),
  })

/** Reads a channel, a list of channels, or a config with `channels`. `-` is standard input. */
function channelsIn(path: string): readonly Written[] {
  const { value, faults } = readSource(readFileSync(path === '-' ? 0 : path, 'utf8'), process.env)
  if (faults.length > 0) throw new UsageError(faults.map(fault => describeFault(fault, path)).join('\n'))
  const found = isObject(value) && Array.isArray(value['channels']) ? value['channels'] : [value].flat()
  if (!found.every(isObject)) throw new UsageError(`${path} has no channels`)
  return found
}

function nameOf(channel: Written, path: string): string {
  if (typeof channel['name'] !== 'string') throw new UsageError(`${path}: a channel has no name`)
  return channel['name']
}

const faultsText = (faults: readonly PathFault[], subject: string): string =>
  faults.map(({ path, message }) => describeFault({ path: pathText(path), message }, subject)).join('\n')

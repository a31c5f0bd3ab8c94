import type { JsonObject } from '../canonical/node.ts'
import { DIALECT_FLAGS, expectedOf } from '../formats/dialects/index.ts'
import { CALLERS_VERSION, isVersion, MESSAGES_VERSION } from '../formats/dialects/messages.ts'
import { FORMAT_FACTS, PRESETS } from '../formats/index.ts'
import { suggestion } from './faults.ts'
import { matchesAny } from './glob.ts'
import type { ChannelConfig, Config, KeyConfig, ModelFacts } from './types.ts'
import { QUOTED } from './values.ts'

/** A key from the store. */
type StoredKey = Pick<KeyConfig, 'name' | 'group'>

/**
 * Yields warnings about parts of a valid config that are probably mistakes.
 *
 * @param stored the keys from the store.
 */
export function* warnings(config: Config, stored: readonly StoredKey[] = []): Generator<string> {
  if (config.channels.length === 0) yield 'channels: none are configured, so every request is refused'
  yield* groupWarnings(config, stored)
  for (const channel of config.channels) yield* channelWarnings(channel)
  for (const facts of config.models.values()) yield* modelWarnings(facts)
  yield* fallbackWarnings(config)
  if (config.channelsFrom === 'config') yield* nameWarnings(config)
}

function* modelWarnings({ id, dialect = {}, interface: format }: ModelFacts): Generator<string> {
  yield* flagWarnings(`model ${id}`, dialect)
  if (format !== undefined && !FORMAT_FACTS.has(format))
    yield `model ${id}: unknown format "${format}"${suggestion(format, FORMAT_FACTS.keys())}`
}

/**
 * Warns about keys in the undeclared `default` group. Without any declared group, stored keys are meant to be
 * unlimited.
 */
function* groupWarnings({ groups, keys }: Config, stored: readonly StoredKey[]): Generator<string> {
  if (groups.get('default')?.implied !== true) return
  const free = [...keys, ...(groups.size > 1 ? stored : [])].filter(({ group }) => group === 'default')
  const names = free.map(({ name }) => name).join(', ')
  if (free.length > 0)
    yield `groups: "default" is not declared, so keys in no other group (${names}) may use every model without limits`
}

/** Returns true if a channel has the model. */
const isServed = (channels: readonly ChannelConfig[], id: string): boolean =>
  channels.some(({ models: { named, patterns } }) => named.has(id) || matchesAny(patterns, id))

/** Warns about fallback models that no channel has. */
function* fallbackWarnings({ channels, models, groups }: Config): Generator<string> {
  const lists = [
    ...[...models.values()].map(({ id, fallbacks }) => [`model ${id}`, fallbacks] as const),
    ...[...groups.values()].map(({ name, fallbacks }) => [`group ${name}`, fallbacks] as const),
  ]
  for (const [owner, fallbacks = []] of lists)
    for (const { model } of fallbacks)
      if (!isServed(channels, model)) yield `${owner}: no channel has the fallback "${model}"`
}

/** Warns about settings of models that no channel has, and about groups with models and channels that do not exist. */
function* nameWarnings({ channels, models, groups }: Config): Generator<string> {
  for (const { id } of models.values())
    if (!id.includes('*') && !isServed(channels, id)) yield `model ${id}: no channel has it`
  for (const group of groups.values()) {
    for (const pattern of group.channels ?? [])
      if (!channels.some(({ name }) => matchesAny([pattern], name)))
        yield `group ${group.name}: no channel is named "${pattern}"`
    for (const id of group.models)
      if (!id.includes('*') && !isServed(channels, id)) yield `group ${group.name}: no channel has the model "${id}"`
  }
}

/** Matches an address that ends with the path of an endpoint. */
const ENDPOINT = /\/v\d\w*\/(?:chat\/completions|completions|messages|responses|embeddings)\/?$/

/** Returns the vendor whose preset has the address of a custom channel. */
function vendorOf({ provider, formats }: ChannelConfig): string | undefined {
  if (provider !== 'custom') return undefined
  const hosts = new Set(formats.map(({ baseUrl }) => hostOf(baseUrl)))
  for (const { name, keyless, formats: offered } of PRESETS.values())
    if (keyless !== true && offered.some(({ baseUrl = '' }) => hosts.has(hostOf(baseUrl)))) return name
  return undefined
}

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)

function* channelWarnings(channel: ChannelConfig): Generator<string> {
  const { name, key = '', formats, weight, models } = channel
  yield* flagWarnings(`channel ${name}`, Object.assign({}, ...formats.map(({ dialect }) => dialect)))
  for (const { format, dialect } of formats)
    if (format === 'messages' && dialect['version'] !== undefined && !isVersion(dialect['version']))
      yield `channel ${name}: the version of messages must be a date such as ${MESSAGES_VERSION}, or ${CALLERS_VERSION}`
  if (formats.some(({ baseUrl }) => ENDPOINT.test(baseUrl)))
    yield `channel ${name}: base_url ends with the path of an endpoint, to which the gateway appends its own: remove it`
  const vendor = vendorOf(channel)
  if (vendor !== undefined)
    yield `channel ${name}: "custom" has no prices and no dialect of this vendor: use "provider: ${vendor}"`
  // A key of the config is checked when it is read; one of the environment may be meant for another program.
  if (QUOTED.test(key)) yield `channel ${name}: its key has quotes around it: remove them where the variable is set`
  if (weight === 0) yield `channel ${name}: with weight 0 it is used only if no other channel is left`
  if (models.named.size === 0 && models.patterns.length === 0) yield `channel ${name}: it has no models`
}

function* flagWarnings(owner: string, dialect: JsonObject): Generator<string> {
  for (const [flag, value] of Object.entries(dialect)) {
    const expected = expectedOf(flag, value)
    if (expected !== undefined) yield `${owner}: the dialect flag "${flag}" must be ${expected}`
    if (!DIALECT_FLAGS.has(flag))
      yield `${owner}: unknown dialect flag "${flag}"${suggestion(flag, DIALECT_FLAGS.keys())}`
  }
}

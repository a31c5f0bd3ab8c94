import { defined, type JsonObject, parseObject } from '../../canonical/node.ts'
import { addressIn, type Draft, type Facts, freeName, newDraft, objectOf, objectsOf, textOf } from './draft.ts'

/*
 * Channel lists of new-api and one-api: the answer of `GET /api/channel/`, or only the list in it. The numbers of
 * channel types are from constant/channel.go (new-api) and relay/channeltype/define.go (one-api), read on 2026-11-28.
 */

/** Upstream of a channel type: a preset, or the format spoken at the channel's address. */
interface Upstream {
  readonly preset?: string
  /** Format for channels with their own address, and the path to append to that address. */
  readonly format: string
  readonly below: string
  /** True for types whose channels need the preset even if they have their own address. */
  readonly isCloud?: boolean
}

const CHAT = { format: 'chat', below: '/v1' } as const
const chat = (preset: string): Upstream => ({ ...CHAT, preset })
/** Chat at an address that already has the complete path. */
const CHAT_AT_ROOT = { format: 'chat', below: '' } as const

/** Channel types of both programs. */
const COMMON: { readonly [type: number]: Upstream } = {
  1: chat('openai'),
  3: { preset: 'azure-deployments', isCloud: true, format: 'chat', below: '' },
  14: { preset: 'anthropic', format: 'messages', below: '' },
  17: chat('dashscope'),
  20: chat('openrouter'),
  24: { preset: 'google', format: 'contents', below: '' },
  25: chat('moonshot'),
}

/** Channel types by program. */
const TYPES: { readonly [program: string]: { readonly [type: number]: Upstream } } = {
  'new-api': {
    ...COMMON,
    ...{
      4: chat('ollama'),
      8: CHAT_AT_ROOT,
      26: chat('zai'),
      27: CHAT,
      34: { ...CHAT, preset: 'cohere' },
      35: chat('minimax'),
    },
    ...{ 38: { preset: 'jina', format: 'rerank', below: '/v1' }, 40: CHAT, 42: chat('mistral') },
    ...{ 43: chat('deepseek'), 47: CHAT, 48: chat('xai') },
  },
  'one-api': {
    ...COMMON,
    ...{ 27: chat('minimax'), 28: chat('mistral'), 29: chat('groq'), 30: chat('ollama') },
    ...{ 8: CHAT, 35: { ...CHAT, preset: 'cohere' }, 36: chat('deepseek'), 39: chat('together'), 44: CHAT },
    ...{ 45: chat('xai'), 50: CHAT_AT_ROOT },
  },
}

/** Addresses of channel types without a preset, by program. */
const ADDRESSES: { readonly [program: string]: { readonly [type: number]: string } } = {
  'new-api': { 27: 'https://api.perplexity.ai', 40: 'https://api.siliconflow.cn' },
  'one-api': { 44: 'https://api.siliconflow.cn' },
}

/** Returns a function that reads a channel list of new-api or one-api. */
export const importChannels =
  (program: 'new-api' | 'one-api') =>
  (value: unknown): Draft => {
    const draft = newDraft()
    const channels = listOf(value)
    const ranks = [...new Set(channels.map(priorityOf))].sort((a, b) => b - a)
    for (const [index, channel] of channels.entries()) addChannel(draft, channel, program, ranks, `[${index}]`)
    return draft
  }

/** Returns the list in an answer: `data.items` in newer versions, `data` in older ones. */
function listOf(value: unknown): JsonObject[] {
  const data = Array.isArray(value) ? value : (objectOf(value)['data'] ?? [])
  return objectsOf(Array.isArray(data) ? data : objectOf(data)['items'])
}

/** Returns a number or the number in a text. `Number` would throw for objects, which have no string form. */
const numeralOf = (value: unknown): number =>
  typeof value === 'string' ? Number(value) : typeof value === 'number' ? value : Number.NaN

const idOf = ({ id }: JsonObject): string => (typeof id === 'string' || typeof id === 'number' ? String(id) : 'unnamed')

/** Returns the priority in these programs, where higher values are tried first. */
const priorityOf = ({ priority }: JsonObject): number => (typeof priority === 'number' ? priority : 0)

function addChannel(draft: Draft, channel: JsonObject, program: string, ranks: readonly number[], path: string): void {
  const name = textOf(channel['name'])?.trim() || `channel-${idOf(channel)}`
  const note = (text: string): void => void draft.notes.push({ path: `${path} (${name})`, text })
  const type = numeralOf(channel['type'])
  const upstream = TYPES[program]?.[type]
  if (channel['status'] !== undefined && channel['status'] !== 1) return note('it is disabled')
  if (upstream === undefined) return note(`type ${type} has no preset: write a channel with provider: custom`)
  if (textOf(channel['base_url']) !== undefined && addressOf(channel) === undefined)
    return note('base_url is not an address')
  const address = addressOf(channel) ?? ADDRESSES[program]?.[type]
  if (address === undefined && (upstream.preset === undefined || upstream.isCloud)) return note('base_url is missing')
  const free = freeName(draft.names, name)
  const key = keysOf(draft, channel, free, note)
  draft.channels.push({ name: free, ...providerOf(upstream, address, key), models: modelsOf(channel, note) })
  const { fields } = draft.channels.at(-1)!
  const rank = ranks.indexOf(priorityOf(channel))
  if (rank > 0) fields['priority'] = rank
  if (typeof channel['weight'] === 'number' && channel['weight'] > 0) fields['weight'] = channel['weight']
  if (upstream.isCloud) Object.assign(fields, defined({ api_version: apiVersionOf(channel) }))
  addHeaders(fields, channel, note)
  for (const [field, text] of Object.entries(NOTES)) if (isSet(channel[field])) note(`${field}: ${text}`)
  if (isSet(objectOf(channel['channel_info'])['multi_key_status_list']))
    note('channel_info: some of its keys are disabled: remove them from `keys`')
  addGroups(draft, channel)
}

/** Notes for channel fields without an equivalent in the config. */
const NOTES: { readonly [field: string]: string } = {
  param_override: 'clients set the parameters of their requests',
  status_code_mapping: 'upstream errors become those of the caller’s format',
  system_prompt: 'the gateway adds no system prompt',
  setting: 'see the fields of channels',
  settings: 'see the fields of channels',
}

/** Returns true for a text or object that is not empty. The texts `{}` and `null` count as empty. */
const isSet = (value: unknown): boolean =>
  typeof value === 'string' ? !['', '{}', 'null'].includes(value.trim()) : Object.keys(objectOf(value)).length > 0

/** Returns the address without the slash and path that the gateway appends. */
const addressOf = ({ base_url }: JsonObject): string | undefined =>
  addressIn(base_url)?.replace(/\/chat\/completions$/, '')

/** Returns the version of Azure's API: the field `other`, or in newer versions of one-api a field of `config`. */
const apiVersionOf = ({ other, config }: JsonObject): string | undefined =>
  textOf(other) ?? textOf(parseObject(textOf(config) ?? '{}')?.['api_version'])

function addHeaders(fields: Facts, channel: JsonObject, note: (text: string) => void): void {
  const headers = Object.entries(objectOf(parseObject(textOf(channel['header_override']) ?? '{}')))
  const plain = headers.filter(([, value]) => typeof value === 'string' && !value.includes('{'))
  const organization = textOf(channel['openai_organization'])
  const all = defined({ ...Object.fromEntries(plain), 'openai-organization': organization })
  if (Object.keys(all).length > 0) fields['headers'] = all
  if (plain.length < headers.length) note('header_override: headers with placeholders have no equivalent in the config')
}

function providerOf({ preset, format, below, isCloud }: Upstream, address: string | undefined, keys: object) {
  if (address === undefined || isCloud) return { provider: preset!, fields: defined({ ...keys, base_url: address }) }
  return { provider: 'custom', fields: { ...keys, formats: [format], base_url: address + below } }
}

/** Splits a text into the items of a list. */
const splitList = (value: unknown, separator: string): string[] =>
  (textOf(value) ?? '')
    .split(separator)
    .map(one => one.trim())
    .filter(Boolean)

/**
 * Returns the keys, which the source has one per line. Channel lists hide keys, so an environment variable replaces a
 * hidden key. Each channel has a variable of its own, because a key must not reach the host of another channel.
 */
function keysOf(draft: Draft, channel: JsonObject, name: string, note: (text: string) => void): Facts {
  const keys = splitList(channel['key'], '\n')
  if (keys.length > 1) return { keys }
  if (keys.length === 1) return { key: keys[0] }
  const words = wordsIn(name) ?? ['CHANNEL', ...(wordsIn(idOf(channel)) ?? [])]
  const variable = `${freeName(draft.variables, words.join('_').replace(/^(?=\d)/, '_'), '_')}_KEY`
  note(`lists of channels hide the key: set ${variable}`)
  return { key: `\${${variable}}` }
}

/** Returns the words of a text that a variable's name can have, or null if there are none. */
const wordsIn = (text: string): readonly string[] | null => text.toUpperCase().match(/[A-Z0-9]+/g)

function modelsOf(channel: JsonObject, note: (text: string) => void): Map<string, string> {
  const names = splitList(channel['models'], ',')
  const mapping = objectOf(parseObject(textOf(channel['model_mapping']) ?? '{}'))
  if (names.length === 0) note('it has no models')
  return new Map(names.map(name => [name, textOf(mapping[name]) ?? name]))
}

/** Adds the channel to each of its groups. The group `default` may use all channels. */
function addGroups(draft: Draft, channel: JsonObject): void {
  const names = splitList(channel['group'], ',')
  for (const name of names) {
    const group = draft.groups.getOrInsertComputed(name, () => ({ models: ['*'], channels: [] }))
    ;(group['channels'] as string[]).push(draft.channels.at(-1)!.name)
  }
}

import { rowOf } from '../../canonical/maps.ts'
import { defined, type JsonObject, parseObject } from '../../canonical/node.ts'
import { keysOf } from './channel-keys.ts'
import { modelsOf } from './channel-models.ts'
import { AZURE, type ChannelProgram, otherProgram, PLANS, removesDots, TYPES, type Upstream } from './channel-types.ts'
import {
  addressIn,
  type Draft,
  type DraftChannel,
  type Facts,
  freeName,
  isVendorAddress,
  newDraft,
  objectOf,
  objectsOf,
  splitList,
  textOf,
  vendorAt,
} from './draft.ts'

/*
 * Channel lists of new-api and one-api: the answer of `GET /api/channel/`, or only the list in it.
 */

/** Returns a function that reads a channel list of new-api or one-api. */
export const importChannels =
  (program: ChannelProgram) =>
  (value: unknown): Draft => {
    const draft = newDraft()
    const channels = listOf(value)
    const missing = missingPart(value, channels.length, program)
    if (missing !== undefined) draft.notes.push({ path: 'data', text: missing })
    const ranks = [...new Set(channels.map(priorityOf))].sort((a, b) => b - a)
    for (const [index, channel] of channels.entries()) addChannel(draft, channel, program, ranks, `[${index}]`)
    if (program === 'new-api') keepStandby(draft)
    return draft
  }

/**
 * Gives channels without a weight the weight 0 if other channels of their rank have one for a common model: new-api then
 * sends them nothing as long as the others work. If no channel has a weight, each gets the same share.
 */
function keepStandby({ channels }: Draft): void {
  const placesOf = ({ models, fields }: DraftChannel): readonly string[] =>
    [...models.keys()].map(model => JSON.stringify([fields['priority'], model]))
  const weighted = new Set(channels.filter(({ fields }) => fields['weight'] !== undefined).flatMap(placesOf))
  for (const channel of channels)
    if (placesOf(channel).some(place => weighted.has(place))) channel.fields['weight'] ??= 0
}

/**
 * Returns the list in an answer or in several: `data.items` in newer versions, `data` in older ones. An export of
 * phpMyAdmin has the table `channels` among others, and objects that describe the database.
 */
function listOf(value: unknown): JsonObject[] {
  if (Array.isArray(value))
    return objectsOf(value)
      .filter(isOfChannels)
      .flatMap(one => (one['data'] === undefined ? [one] : listOf(one)))
  const data = objectOf(value)['data'] ?? []
  return objectsOf(Array.isArray(data) ? data : objectOf(data)['items'])
}

/** Types of the objects in an export of phpMyAdmin (`ExportJson.php` of its version 5.2, read on 2026-12-01). */
const PARTS_OF_EXPORT: ReadonlySet<unknown> = new Set(['header', 'database', 'table'])

const isOfChannels = ({ type, name }: JsonObject): boolean =>
  !PARTS_OF_EXPORT.has(type) || (type === 'table' && name === 'channels')

/** Number of channels in an answer of one-api (common/config, read on 2026-11-30). Its answers state no total. */
const PAGE_OF_ONE_API = 10

/** Returns what an answer lacks, if the program has or may have more channels. */
function missingPart(value: unknown, count: number, program: ChannelProgram): string | undefined {
  const total = objectsOf(Array.isArray(value) ? value : [value]).map(one => objectOf(one['data'])['total'])[0]
  if (typeof total === 'number' && total > count)
    return `it has ${count} of ${total} channels: fetch the other pages, and write the answers into one list`
  const isPage = program === 'one-api' && !Array.isArray(value) && count === PAGE_OF_ONE_API
  return isPage ? 'it is one page of ten channels: fetch all with `GET /api/channel/search?keyword=`' : undefined
}

/** Returns a number or the number in a text. `Number` would throw for objects, which have no string form. */
const numeralOf = (value: unknown): number =>
  typeof value === 'string' ? Number(value) : typeof value === 'number' ? value : Number.NaN

const idOf = ({ id }: JsonObject): string => (typeof id === 'string' || typeof id === 'number' ? String(id) : 'unnamed')

/** Returns the priority in these programs, where higher values are tried first. */
const priorityOf = ({ priority }: JsonObject): number => numeralOf(priority) || 0

/** Status of a channel that is in use. Exports of databases have it as a text. */
const ENABLED = 1

function addChannel(
  draft: Draft,
  channel: JsonObject,
  program: ChannelProgram,
  ranks: readonly number[],
  path: string,
): void {
  const name = textOf(channel['name'])?.trim() || `channel-${idOf(channel)}`
  const note = (text: string): void => void draft.notes.push({ path: `${path} (${name})`, text })
  const type = numeralOf(channel['type'])
  const origin = otherProgram(program, type, channel)
  if (origin !== undefined) return note(`it is a channel of ${origin}, where type ${type} is another vendor`)
  const upstream = TYPES[program][type]
  if (channel['status'] !== undefined && numeralOf(channel['status']) !== ENABLED) return note('it is disabled')
  if (upstream === undefined) return note(`type ${type} has no preset: write a channel with provider: custom`)
  const address = addressOf(channel, upstream)
  if (address === undefined && textOf(channel['base_url']) !== undefined) return note('base_url is not an address')
  if (upstream.isComplete === true && !CHAT_ADDRESS.test(textOf(channel['base_url']) ?? ''))
    return note('base_url is the complete address of requests: a channel has only that of Chat Completions')
  if (type === AZURE && isAtCloudflare(address))
    return note('no channel has the paths of Cloudflare’s gateway for Azure')
  if (address === undefined && (upstream.preset === undefined || type === AZURE)) return note('base_url is missing')
  const { proxy, ...settings } = settingsOf(channel)
  if (isSet(proxy) && addressIn(proxy) === undefined) return note('its proxy is neither an http nor an https address')
  const free = freeName(draft.names, name)
  const keys = keysOf(draft, channel, { name: free, id: idOf(channel) }, note)
  if (keys === undefined) return note('all of its keys are disabled')
  const withoutDots = removesDots(program, type, numeralOf(channel['created_time']))
  const isNewApi = program === 'new-api'
  const models = modelsOf(channel, { isChained: isNewApi, hasEfforts: isNewApi, withoutDots }, note)
  draft.channels.push({ name: free, ...providerOf(upstream, address, keys), models })
  const { fields } = draft.channels.at(-1)!
  const rank = ranks.indexOf(priorityOf(channel))
  if (rank > 0) fields['priority'] = rank
  const weight = numeralOf(channel['weight'])
  if (weight > 0) fields['weight'] = weight
  if (type === AZURE) Object.assign(fields, defined({ api_version: apiVersionOf(channel) }))
  if (isSet(proxy)) fields['proxy'] = addressIn(proxy)
  if (Object.values(settings).some(Boolean)) note('setting: see the fields of channels')
  addHeaders(fields, channel, textOf(keys['key']), note)
  for (const [field, text] of Object.entries(NOTES)) if (isSet(channel[field])) note(`${field}: ${text}`)
  addGroups(draft, channel)
}

/** Notes for channel fields without an equivalent in the config. */
const NOTES: { readonly [field: string]: string } = {
  param_override: 'clients set the parameters of their requests',
  status_code_mapping: 'upstream errors become those of the caller’s format',
  system_prompt: 'the gateway adds no system prompt',
  settings: 'see the fields of channels',
}

/** Returns the object in the field `setting`, with the proxy of the channel. */
const settingsOf = ({ setting }: JsonObject): JsonObject => objectOf(parseObject(textOf(setting) ?? '{}') ?? setting)

/** Returns true for a text or object that is not empty. The texts `{}` and `null` count as empty. */
const isSet = (value: unknown): boolean =>
  typeof value === 'string' ? !['', '{}', 'null'].includes(value.trim()) : Object.keys(objectOf(value)).length > 0

/** Returns the address that the gateway appends its paths to. Undefined without one, or if it is not an address. */
function addressOf({ base_url }: JsonObject, { preset, below, address: usual }: Upstream): string | undefined {
  const written = textOf(base_url)
  if (written === undefined) return usual === undefined ? undefined : usual + below
  const plan = rowOf(PLANS, written)
  if (plan !== undefined) return plan
  const address = addressIn(written)?.replace(/\/chat\/completions$/, '')
  // Addresses of Cloudflare have the version before the name of the vendor.
  if (preset === 'openai' && isAtCloudflare(address)) return address
  return address === undefined ? undefined : address + below
}

const isAtCloudflare = (address: string | undefined): boolean =>
  address?.startsWith('https://gateway.ai.cloudflare.com/') === true

/**
 * Returns the version of Azure's API. one-api reads a field of `config`, and the older field `other` without one
 * (`middleware/distributor.go` of version 0.6.10, run on 2026-12-01). new-api has `other` alone.
 */
const apiVersionOf = ({ other, config }: JsonObject): string | undefined =>
  textOf(parseObject(textOf(config) ?? '{}')?.['api_version']) ?? textOf(other)

/** Matches an address of Chat Completions without a place for the model's name. */
const CHAT_ADDRESS = /^[^{}]*\/chat\/completions\/?$/

/** Matches the name of a rule of new-api that passes headers of callers on. */
const PASSING_RULE = /^(?:\*$|re(?:gex)?:)/i

/** Adds headers, with the channel's key in place of `{api_key}` if it has only one. */
function addHeaders(fields: Facts, channel: JsonObject, key: string | undefined, note: (text: string) => void): void {
  const headers = new Map<string, string>()
  for (const [name, value] of Object.entries(objectOf(parseObject(textOf(channel['header_override']) ?? '{}')))) {
    const text = typeof value === 'string' ? value.replaceAll('{api_key}', () => key ?? '{api_key}') : '{'
    if (PASSING_RULE.test(name) || text.includes('{client_header:'))
      note(`header_override.${name}: name the headers of callers in \`allow_headers\``)
    else if (text.includes('{api_key}') || typeof value !== 'string')
      note(`header_override.${name}: it has no equivalent in the config`)
    else headers.set(name, text)
  }
  const all = defined({
    ...Object.fromEntries(headers),
    'openai-organization': textOf(channel['openai_organization']),
  })
  if (Object.keys(all).length > 0) fields['headers'] = all
}

function providerOf({ preset, formats, keepsPreset }: Upstream, address: string | undefined, keys: object) {
  if (isVendorAddress(preset, address)) return { provider: preset!, fields: defined({ ...keys }) }
  const vendor = vendorAt(address, formats)
  if (vendor !== undefined) return { provider: vendor.provider, fields: defined({ ...keys, ...vendor.fields }) }
  if (address === undefined || (preset !== undefined && keepsPreset === true))
    return { provider: preset!, fields: defined({ ...keys, base_url: address }) }
  return { provider: 'custom', fields: { ...keys, formats, base_url: address } }
}

/** Adds the channel to each of its groups. The group `default` may use all channels. */
function addGroups(draft: Draft, channel: JsonObject): void {
  const names = splitList(channel['group'], ',')
  for (const name of names) {
    const group = draft.groups.getOrInsertComputed(name, () => ({ models: ['*'], channels: [] }))
    ;(group['channels'] as string[]).push(draft.channels.at(-1)!.name)
  }
}

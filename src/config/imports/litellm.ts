import { append } from '../../canonical/lists.ts'
import { rowOf } from '../../canonical/maps.ts'
import { defined, isObject, type JsonObject } from '../../canonical/node.ts'
import { matches } from '../glob.ts'
import {
  channelFor,
  type Draft,
  type DraftChannel,
  type Facts,
  factsOf,
  newDraft,
  objectOf,
  objectsOf,
  textOf,
} from './draft.ts'
import { type Credentials, credentialsOf, noteUnused, withCredential } from './litellm-credentials.ts'
import { configOf } from './litellm-exports.ts'
import { complete } from './litellm-fallbacks.ts'
import { type NamedEntry, type Rank, ranksOf } from './litellm-ranks.ts'
import { ROUTER_FIELDS } from './litellm-router.ts'
import { amountOf, numberOf, numeralOf, settingOf } from './litellm-settings.ts'
import { accountOf, HEADERS, lostDestination, wrongDestination } from './litellm-upstreams.ts'
import type { Note } from './note.ts'
import { unread, watched } from './watched.ts'

/*
 * Configs of LiteLLM's proxy (docs.litellm.ai, "Proxy config.yaml", and the example configs of its repository, read on
 * 2026-11-28). Every setting is either read into the config or mentioned in a note.
 */

/** Sections with settings, in order of precedence. */
const SETTINGS = ['router_settings', 'litellm_settings', 'general_settings'] as const

/** Reads a config of LiteLLM's proxy. */
export function importLitellm(value: unknown): Draft {
  const { config, notes } = configOf(value)
  const draft = newDraft()
  append(draft.notes, notes)
  const credentials = credentialsOf(draft, config['credential_list'])
  const entries = entriesOf(draft, config['model_list'], credentials)
  const ranks = ranksOf(entries, config)
  const patterns = entries.flatMap(entry => addModel(draft, entry, ranks.get(entry)) ?? [])
  noteUnused(
    draft,
    credentials,
    entries.map(({ fields }) => fields),
  )
  for (const section of SETTINGS) {
    if (config[section] !== undefined && !isObject(config[section]))
      draft.notes.push({ path: section, text: 'it is not a map of settings' })
    for (const [field, setting] of Object.entries(objectOf(config[section]))) {
      const note = (rowOf(ROUTER_FIELDS, field) ?? unknownField)(draft, setting, config)
      if (note !== undefined) draft.notes.push({ path: `${section}.${field}`, text: note })
    }
  }
  for (const field of Object.keys(config).filter(name => !SECTIONS.has(name)))
    draft.notes.push({ path: field, text: rowOf(OTHER_SECTIONS, field) ?? 'the config has no such part' })
  complete(
    draft,
    SETTINGS.map(section => [section, objectOf(config[section])]),
  )
  withoutWide(draft, patterns)
  return { ...draft, notes: once(draft.notes) }
}

/** Returns each note once. The channels of one entry have the same ones. */
const once = (notes: readonly Note[]): Note[] => [
  ...new Map(notes.map(note => [JSON.stringify([note.path, note.text]), note])).values(),
]

const SECTIONS: ReadonlySet<string> = new Set(['model_list', 'credential_list', ...SETTINGS])

const OTHER_SECTIONS: { readonly [section: string]: string } = {
  environment_variables: 'set these variables where the gateway runs',
  finetune_settings: 'the gateway has no fine-tuning endpoints',
  files_settings: 'the gateway has no files endpoint',
  guardrails: 'the gateway has no guardrails',
  mcp_servers: 'the gateway runs no MCP servers; hosted tools of upstreams are passed on',
  include: 'import each of these files',
}

const unknownField = (): string => 'the config has no such setting'

/** An entry of `model_list`, with its path in the file. */
interface Entry extends NamedEntry {
  readonly path: string
  readonly fields: JsonObject
}

/** Returns the entries of `model_list`. */
function entriesOf(draft: Draft, list: unknown, credentials: Credentials): readonly Entry[] {
  const rows = Array.isArray(list) ? list : []
  if (list !== undefined && !Array.isArray(list)) draft.notes.push({ path: 'model_list', text: 'it is not a list' })
  return rows.flatMap((entry, index) => {
    const path = `model_list[${index}]`
    if (!isObject(entry)) draft.notes.push({ path, text: 'it is not a model entry' })
    return objectsOf([entry])
      .flatMap(byOrganization)
      .map(fields => ({ path, fields, ...partsOf(fields, credentials) }))
  })
}

/** Returns one entry for each organisation of an entry that has a list of them, as LiteLLM does. */
function byOrganization(entry: JsonObject): readonly JsonObject[] {
  const params = objectOf(entry['litellm_params'])
  const organizations = params['organization']
  if (!Array.isArray(organizations)) return [entry]
  return organizations.map(organization => ({ ...entry, litellm_params: { ...params, organization } }))
}

function partsOf(entry: JsonObject, credentials: Credentials): NamedEntry {
  const { model_name, litellm_params, model_info, rpm, tpm } = entry
  // Older configs have the limits next to the parameters instead of inside them.
  const outerLimits = defined({ rpm, tpm })
  const params = { ...outerLimits, ...withCredential(objectOf(litellm_params), credentials) } as JsonObject
  return { name: textOf(model_name) ?? '', params, info: objectOf(model_info) }
}

/** A channel's pattern, with its entry in the file. */
interface Pattern {
  readonly channel: DraftChannel
  readonly name: string
  readonly path: string
}

/** Adds one entry of `model_list`. Returns the entry's name if it is a pattern. */
function addModel(draft: Draft, entry: Entry, rank: Rank | undefined): Pattern | undefined {
  const { path } = entry
  const { model_name, litellm_params: _params, model_info: _info, rpm: _rpm, tpm: _tpm, ...rest } = entry.fields
  const params = watched(entry.params)
  const info = watched(entry.info)
  const account = accountOf(params, info, textOf(entry.info['mode']))
  const wrong = wrongDestination(entry.params)
  if (wrong !== undefined || entry.info['blocked'] === true) {
    draft.notes.push({ path, text: wrong ?? 'it is paused' })
    return undefined
  }
  const refusal = typeof account === 'string' ? account : refusedName(textOf(model_name), account.model)
  if (typeof account === 'string' || refusal !== undefined) {
    draft.notes.push({ path, text: refusal! })
    return undefined
  }
  const lost = lostDestination(params, entry.params)
  if (lost !== undefined) {
    const text = `a channel has no litellm_params.${lost}, without which it would reach another account or address`
    draft.notes.push({ path, text })
    return undefined
  }
  const name = textOf(model_name) ?? account.model
  const channel = channelFor(draft, account.provider, { ...account.fields, ...rank }, name)
  channel.models.set(name, account.model)
  const droppedFields = addFacts(draft, name, params, info)
  const note = (field: string, text: string): void => void draft.notes.push({ path: `${path}.${field}`, text })
  if (account.note !== undefined) note(`litellm_params.${account.note.field}`, account.note.text)
  for (const field of Object.keys(rest)) note(field, 'an entry has no such field')
  for (const field of unread(params)) note(`litellm_params.${field}`, paramNote(field, name))
  for (const field of unread(info)) note(`model_info.${field}`, rowOf(INFO_NOTES, field) ?? 'a model has no such field')
  if (account.model === settingOf(params['model_id']) && draft.models.get(name)?.['price'] === undefined)
    note('litellm_params.model_id', `has no price in the list: write it as \`price\` of the model`)
  for (const field of droppedFields)
    note(
      `${info[field] === undefined ? 'litellm_params' : 'model_info'}.${field}`,
      'another entry of the model takes precedence',
    )
  for (const field of NUMBERS)
    if (!unread(params).includes(field) && params[field] !== undefined && numberOf(params[field]) === undefined)
      note(`litellm_params.${field}`, 'it is not a number above 0')
  for (const [part, values] of Object.entries({ litellm_params: params, model_info: info }))
    for (const field of [...Object.keys(PRICES), ...Object.keys(SIZES)])
      if (!unread(values).includes(field) && (values[field] ?? '') !== '' && numeralOf(values[field]) === undefined)
        note(`${part}.${field}`, 'it is not a number')
  for (const field of AMOUNTS)
    if (params[field] !== undefined && amountOf(params[field]) === undefined)
      note(`litellm_params.${field}`, 'it is not a number of 0 or more')
  for (const field of HEADERS)
    if (params[field] !== undefined && !isObject(params[field]))
      note(`litellm_params.${field}`, 'it is not a map of headers')
  return name.includes('*') ? { channel, name, path } : undefined
}

/** Returns the reason why a channel cannot use the name for the model. */
function refusedName(name: string | undefined, model: string): string | undefined {
  const [stars, upstream] = [name ?? model, model].map(one => one.split('*').length - 1) as [number, number]
  if (upstream > stars)
    return `"${name}" stands for one model, and "${model}" for many: write \`models: { NAME: ${model} }\` with one model`
  if (stars > 1 && name !== model)
    return 'a name can have only one `*`: write a channel with `models: { "NAME/*": "*" }`'
  return undefined
}

/**
 * Removes patterns that match a name at another upstream. LiteLLM prefers the more specific name. In this gateway, both
 * channels would have the model, and if one fails, its prompts would be sent to the other upstream.
 */
function withoutWide(draft: Draft, patterns: readonly Pattern[]): void {
  const wide = patterns.flatMap(pattern => {
    const others = draft.channels.filter(one => upstreamOf(one) !== upstreamOf(pattern.channel))
    const other = others.flatMap(({ models }) => [...models.keys()]).find(name => isWider(pattern.name, name))
    return other === undefined ? [] : [{ ...pattern, other }]
  })
  for (const { channel, name, path, other } of wide) {
    const entry = JSON.stringify({ NAME: channel.models.get(name)!.replace('*', 'NAME') })
    channel.models.delete(name)
    draft.models.delete(name)
    draft.notes.push({
      path: `${path}.model_name`,
      text: `"${name}" includes "${other}" of another channel, whose prompts must not come here: write the models by name, \`models: ${entry}\``,
    })
  }
  const empty = new Set(wide.map(({ channel }) => channel).filter(({ models }) => models.size === 0))
  append(
    draft.channels,
    draft.channels.splice(0).filter(one => !empty.has(one)),
  )
}

const isWider = (pattern: string, name: string): boolean => pattern === name || matches(pattern, name)

/** Returns an identifier of an upstream: vendor and address. */
const upstreamOf = ({ provider, fields }: DraftChannel): string => JSON.stringify([provider, fields['base_url']])

/** Numeric parameters. */
const NUMBERS = ['rpm', 'tpm', 'timeout', 'stream_timeout', 'max_parallel_requests'] as const

/** Numeric parameters that may be zero. */
const AMOUNTS = ['weight', 'order'] as const

const RETRY_NOTE = 'a failed request is not retried on the same channel; the next channel is tried'

const PARAM_NOTES: { readonly [field: string]: string } = {
  ...{ max_retries: RETRY_NOTE, num_retries: RETRY_NOTE },
  drop_params: 'not needed: parameters that an upstream lacks are dropped and reported',
  ...{
    rpm: 'only a channel with its own key can have this limit',
    tpm: 'only a channel with its own key can have this limit',
  },
}

const paramNote = (field: string, name: string): string =>
  field === 'max_tokens' || field === 'max_completion_tokens'
    ? `write the model's limit as \`models: { ${JSON.stringify(name)}: { max_output: … } }\``
    : (rowOf(PARAM_NOTES, field) ?? 'a channel has no such field')

const INFO_NOTES: { readonly [field: string]: string } = {
  base_model:
    'prices and sizes come from the upstream’s model name: write others as `price`, `context`, `max_output` of the model',
}

/** Fields for prices and sizes. LiteLLM's prices are per token, the config's per million tokens. */
const PRICES = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
} as const

const SIZES = { max_input_tokens: 'context', max_output_tokens: 'max_output' } as const

/**
 * Adds the facts of an entry to its model. Returns the fields that differ from another entry with the same name. A
 * pattern has no facts, so its fields stay unread and are therefore reported.
 */
function addFacts(draft: Draft, name: string, params: JsonObject, info: JsonObject): string[] {
  if (name.includes('*')) return []
  const numberIn = (field: string): number | undefined =>
    [info[field], params[field]].map(numeralOf).find(value => value !== undefined)
  const prices = Object.entries(PRICES).map(([from, to]) => {
    const cost = numberIn(from)
    return [from, to, cost === undefined ? undefined : Number((cost * 1e6).toPrecision(12))] as const
  })
  const sizes = Object.entries(SIZES).map(([from, to]) => [from, to, numberIn(from)] as const)
  const price = objectOf(draft.models.get(name)?.['price'])
  const lostPrices = addMissing(price as Facts, prices)
  if (Object.keys(price).length > 0) factsOf(draft, name)['price'] = price
  const facts = { ...draft.models.get(name) }
  const lostSizes = addMissing(facts, sizes)
  if (Object.keys(facts).length > 0) draft.models.set(name, facts)
  return [...lostPrices, ...lostSizes]
}

/** Adds missing values. Returns the fields whose values differ from the existing ones. */
function addMissing(facts: Facts, rows: readonly (readonly [string, string, number | undefined])[]): string[] {
  return rows.flatMap(([field, name, value]) => {
    if (value === undefined) return []
    facts[name] ??= value
    return facts[name] === value ? [] : [field]
  })
}

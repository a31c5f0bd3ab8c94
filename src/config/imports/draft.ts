import { Document } from 'yaml'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type JsonObject, parseObject } from '../../canonical/node.ts'
import { withEscapedControls, withoutTrailingSlashes } from '../../canonical/text.ts'
import { PRESETS, type PresetFormat } from '../../formats/index.ts'
import { withoutRefusedValues } from './accepted.ts'
import type { Note } from './note.ts'

/** A channel of a draft config. Texts may contain `${NAME}`. */
export interface DraftChannel {
  name: string
  provider: string
  /** Public names and patterns of models, each with the upstream's name. */
  readonly models: Map<string, string>
  /** Other fields of the channel, in the form of the config. */
  readonly fields: { [field: string]: unknown }
}

/**
 * Formats of an upstream that is compatible with OpenAI and known only by its address. Its models may do any of their
 * work: the other gateways pass each path on.
 */
export const COMPATIBLE_FORMATS: readonly string[] = [
  ...['chat', 'completions', 'embeddings', 'images', 'speech', 'transcriptions', 'rerank'],
]

/** Returns true for the address of a vendor itself, whose preset has its formats and dialect. */
export const isVendorAddress = (provider: string | undefined, address: string | undefined): boolean =>
  provider !== undefined &&
  address !== undefined &&
  PRESETS.get(provider)?.formats.some(({ baseUrl }) => baseUrl === address) === true

/** Path of the version, which some vendors take before the paths of their tasks, and need not. */
const VERSION_PATH = /\/v1$/

/**
 * Returns the vendor that offers one of the formats at an address, as the fields of a channel. Its preset has the dialect
 * and the prices, which a channel known only by its address lacks. DeepSeek's address is valid with and without a version.
 * Without Chat Completions, the channel has these formats only: keys of some plans are valid at this address alone.
 */
export function vendorAt(
  address: string | undefined,
  formats: readonly string[],
): { readonly provider: string; readonly fields: { readonly [field: string]: unknown } } | undefined {
  if (address === undefined) return undefined
  const addresses = [address, address.replace(VERSION_PATH, '')]
  const sought = formats.includes('chat') ? ['chat'] : formats
  const isThere = ({ format, baseUrl }: PresetFormat): boolean =>
    sought.includes(format) && baseUrl !== undefined && addresses.includes(baseUrl)
  for (const { name, keyless, formats: offered } of PRESETS.values()) {
    const found = keyless === true ? [] : offered.filter(isThere).map(({ format }) => format)
    if (found.length > 0) return { provider: name, fields: found.includes('chat') ? {} : { formats: found } }
  }
  return undefined
}

/** Fields of a model or group, in the form of the config. */
export interface Facts {
  [field: string]: unknown
}

/** A draft config, created from another gateway's file. */
export interface Draft {
  readonly channels: DraftChannel[]
  /** Channels by account. */
  readonly accounts: Map<string, DraftChannel[]>
  /** Names of channels, each with the number that its next namesake tries first. */
  readonly names: Map<string, number>
  /** Names of variables for hidden keys, each with the number that its next namesake tries first. */
  readonly variables: Map<string, number>
  /** Facts about models, in the form of the config. */
  readonly models: Map<string, Facts>
  readonly groups: Map<string, Facts>
  readonly keys: JsonObject[]
  /** Other fields of the config. */
  readonly fields: { [field: string]: unknown }
  /** Parts of the file that the config cannot express, with advice. */
  readonly notes: Note[]
}

export const newDraft = (): Draft => ({
  ...{ channels: [], accounts: new Map(), names: new Map(), variables: new Map() },
  ...{ models: new Map(), groups: new Map(), keys: [], fields: {}, notes: [] },
})

/** The imported config. */
export interface Imported {
  /** The config as YAML, with the notes as comments at its beginning. */
  readonly text: string
  readonly channels: number
  readonly notes: readonly Note[]
}

/** Returns the facts of a model in the draft. The caller may modify them. */
export const factsOf = (draft: Draft, model: string): Facts => draft.models.getOrInsertComputed(model, () => ({}))

/** Returns true if fields of a channel limit its requests, those of all of its models together. */
const isLimited = ({ keys, max_concurrent }: { [field: string]: unknown }): boolean =>
  keys !== undefined || max_concurrent !== undefined

/**
 * Returns the channel for a model: an existing one with the same provider and fields that does not yet have the name,
 * else a new one. Two accounts for one name thus become two channels that share its requests. A channel with limits has
 * no other models, because the other gateway counts the requests of each model by themselves.
 */
export function channelFor(
  draft: Draft,
  provider: string,
  fields: { [field: string]: unknown },
  model: string,
): DraftChannel {
  const channels = getOrAdd(draft.accounts, JSON.stringify([provider, fields]), (): DraftChannel[] => [])
  const found = isLimited(fields) ? undefined : channels.find(({ models }) => !models.has(model))
  if (found !== undefined) return found
  const channel = { name: freeName(draft.names, provider), provider, models: new Map<string, string>(), fields }
  draft.channels.push(channel)
  channels.push(channel)
  return channel
}

/** Takes the name if it is free, otherwise the name with the first free number. */
export function freeName(names: Map<string, number>, name: string, separator = '-'): string {
  let free = name
  const next = names.get(name)
  if (next !== undefined) {
    let number = next
    do free = `${name}${separator}${number++}`
    while (names.has(free))
    names.set(name, number)
  }
  names.set(free, 2)
  return free
}

/** Writes the draft as YAML. */
export function draftText(draft: Draft, source: string): Imported {
  const { channels, models, groups, keys, fields } = draft
  const { config, notes: leftOut } = withoutRefusedValues({
    ...fields,
    ...(groups.size === 0 ? {} : { groups: Object.fromEntries(groups) }),
    ...(keys.length === 0 ? {} : { keys }),
    channels: channels.map(one => ({
      ...{ name: one.name, provider: one.provider, ...one.fields },
      models: modelsOf(one.models),
    })),
    ...(models.size === 0 ? {} : { models: Object.fromEntries(models) }),
  } as JsonObject)
  const notes = [...draft.notes, ...leftOut]
  const document = new Document(config, { aliasDuplicateObjects: false })
  document.commentBefore = headOf(source, notes)
  return { text: document.toString({ lineWidth: 0 }), channels: (config['channels'] as unknown[]).length, notes }
}

/** Returns a list of names if they are all the same at the upstream, else a map. */
const modelsOf = (models: ReadonlyMap<string, string>): unknown =>
  [...models].every(([name, upstream]) => name === upstream) ? [...models.keys()] : Object.fromEntries(models)

const headOf = (source: string, notes: readonly Note[]): string =>
  [
    withEscapedControls(` Made from ${source}. Check it with \`interlingua check\`.`),
    ...(notes.length === 0 ? [] : ['', ' Not carried over:']),
    ...notes.map(note => ` ${noteLine(note)}`),
  ].join('\n')

/** Returns a note as one line. Names in the other gateway's file are untrusted. */
export const noteLine = ({ path, text }: Note): string => withEscapedControls(`- ${path}: ${text}`)

/** Returns the value if it is an object, else an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {})

/** Returns an object, which rows of a database have as JSON text, or an empty object. */
export const jsonObjectOf = (value: unknown): JsonObject =>
  typeof value === 'string' ? (parseObject(value) ?? {}) : objectOf(value)

/** Returns the objects of a list. */
export const objectsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject).map(one => one as JsonObject) : []

/** Returns the value if it is a non-empty string. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Splits a text into the items of a list. */
export const splitList = (value: unknown, separator: string): string[] =>
  (textOf(value) ?? '')
    .split(separator)
    .map(one => one.trim())
    .filter(Boolean)

/** Returns an address without trailing slashes, or undefined for any other value. */
export function addressIn(value: unknown): string | undefined {
  const address = withoutTrailingSlashes(textOf(value)?.trim() ?? '')
  return /^https?:\/\/[^/\s]/.test(address) && URL.canParse(address) ? address : undefined
}

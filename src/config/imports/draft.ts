import { Document } from 'yaml'
import { isObject, type JsonObject } from '../../canonical/node.ts'
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

/** Fields of a model or group, in the form of the config. */
export interface Facts {
  [field: string]: unknown
}

/** A draft config, created from another gateway's file. */
export interface Draft {
  readonly channels: DraftChannel[]
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
  ...{ channels: [], models: new Map(), groups: new Map(), keys: [], fields: {}, notes: [] },
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

/**
 * Returns the channel for a model: an existing one with the same provider and fields that does not yet have the name,
 * else a new one. Two accounts for one name thus become two channels that share its requests.
 */
export function channelFor(
  draft: Draft,
  provider: string,
  fields: { [field: string]: unknown },
  model: string,
): DraftChannel {
  const account = JSON.stringify([provider, fields])
  const found = draft.channels.find(
    ({ provider, fields, models }) => JSON.stringify([provider, fields]) === account && !models.has(model),
  )
  if (found !== undefined) return found
  const channel = { name: freeName(draft, provider), provider, models: new Map<string, string>(), fields }
  draft.channels.push(channel)
  return channel
}

/** Returns the name if it is free, otherwise the name with the first free number. */
export function freeName(draft: Draft, name: string): string {
  const isTaken = (one: string): boolean => draft.channels.some(channel => channel.name === one)
  let free = name
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`
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
  const document = new Document(config)
  document.commentBefore = headOf(source, notes)
  return { text: document.toString({ lineWidth: 0 }), channels: (config['channels'] as unknown[]).length, notes }
}

/** Returns a list of names if they are all the same at the upstream, else a map. */
const modelsOf = (models: ReadonlyMap<string, string>): unknown =>
  [...models].every(([name, upstream]) => name === upstream) ? [...models.keys()] : Object.fromEntries(models)

const headOf = (source: string, notes: readonly Note[]): string =>
  [
    ` Made from ${source}. Check it with \`interlingua check\`.`,
    ...(notes.length === 0 ? [] : ['', ' Not carried over:']),
    ...notes.map(({ path, text }) => ` - ${path}: ${text}`),
  ].join('\n')

/** Returns the value if it is an object, else an empty object. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {})

/** Returns the objects of a list. */
export const objectsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject).map(one => one as JsonObject) : []

/** Returns the value if it is a non-empty string. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/**
 * Returns an address without a trailing slash, or undefined for any other value. An address may contain `${NAME}`
 * variables.
 */
export function addressIn(value: unknown): string | undefined {
  const address = textOf(value)?.trim().replace(/\/+$/, '')
  return address !== undefined && /^(\$\{\w+\}|https?:\/\/[^/\s])/.test(address) && isUrl(address) ? address : undefined
}

const isUrl = (address: string): boolean => URL.canParse(address.replace(/^\$\{\w+\}/, 'http://variable'))

import { Document } from 'yaml'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { accepted } from './accepted.ts'
import type { Note } from './note.ts'

/** A channel of a config that is being written. Texts may contain `${NAME}`. */
export interface DraftChannel {
  name: string
  provider: string
  /** Names and patterns of models for callers, each with its name at the upstream. */
  readonly models: Map<string, string>
  /** Other fields of the channel, as in the config. */
  readonly fields: { [field: string]: unknown }
}

/** Fields of a model or group, as in the config. */
export interface Facts {
  [field: string]: unknown
}

/** A config that is being written from a file of another gateway. */
export interface Draft {
  readonly channels: DraftChannel[]
  /** Facts about models, as in the config. */
  readonly models: Map<string, Facts>
  readonly groups: Map<string, Facts>
  readonly keys: JsonObject[]
  /** Other fields of the config. */
  readonly fields: { [field: string]: unknown }
  /** Parts of the file that the config lacks, and what to do about them. */
  readonly notes: Note[]
}

export const newDraft = (): Draft => ({
  ...{ channels: [], models: new Map(), groups: new Map(), keys: [], fields: {}, notes: [] },
})

/** A config from a file of another gateway. */
export interface Imported {
  /** The config as YAML. The notes are comments at its beginning. */
  readonly text: string
  readonly channels: number
  readonly notes: readonly Note[]
}

/** Returns the facts of a model of the draft, which may be changed. */
export const factsOf = (draft: Draft, model: string): Facts => draft.models.getOrInsertComputed(model, () => ({}))

/**
 * Returns the channel for a model: an existing one with the same provider and fields that does not have the name yet,
 * else a new one. Two accounts for one name thus become two channels, between which requests are spread.
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

/** Returns the name, or the name with the first number that is free. */
export function freeName(draft: Draft, name: string): string {
  const isTaken = (one: string): boolean => draft.channels.some(channel => channel.name === one)
  let free = name
  for (let number = 2; isTaken(free); number++) free = `${name}-${number}`
  return free
}

/** Writes the draft as YAML. */
export function draftText(draft: Draft, source: string): Imported {
  const { channels, models, groups, keys, fields } = draft
  const { config, notes: leftOut } = accepted({
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

/** Returns a list of names if each is also the upstream's name, else a map. */
const modelsOf = (models: ReadonlyMap<string, string>): unknown =>
  [...models].every(([name, upstream]) => name === upstream) ? [...models.keys()] : Object.fromEntries(models)

const headOf = (source: string, notes: readonly Note[]): string =>
  [
    ` Made from ${source}. Check it with \`interlingua check\`.`,
    ...(notes.length === 0 ? [] : ['', ' Not carried over:']),
    ...notes.map(({ path, text }) => ` - ${path}: ${text}`),
  ].join('\n')

/** Returns an object, or an empty one if the value is none. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? (value as JsonObject) : {})

/** Returns the objects of a list. */
export const objectsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject).map(one => one as JsonObject) : []

/** Returns a text that is not empty. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Returns the address without a slash at its end, or undefined for a text that is none. `${NAME}` is a variable. */
export function addressIn(value: unknown): string | undefined {
  const address = textOf(value)?.trim().replace(/\/+$/, '')
  return address !== undefined && /^(\$\{\w+\}|https?:\/\/[^/\s])/.test(address) && isUrl(address) ? address : undefined
}

const isUrl = (address: string): boolean => URL.canParse(address.replace(/^\$\{\w+\}/, 'http://variable'))

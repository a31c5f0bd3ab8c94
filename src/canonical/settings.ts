import type { CanonicalRequest, Output, Sampling } from './request.ts'

/*
 * Settings: fields of a request that are one plain value, in canonical and in each format that has them. What is known
 * of one is a row here (its place, its type, why it is lost where a format has none) and a row for each format that has
 * it (its name there); readers, schemas, writers and losses follow from the rows.
 */

export type SettingType = 'number' | 'count' | 'flag' | 'text' | 'object'

/** Why a setting is lost, with its type; a field of the node whose value is of that type. */
type Rows<N> = { readonly [Field in keyof N]?: readonly [type: SettingType, lost: string] }

const SAMPLING = {
  maxTokens: ['number', 'no-limit'],
  temperature: ['number', 'no-sampling'],
  topP: ['number', 'no-sampling'],
  topK: ['number', 'no-top-k'],
  seed: ['number', 'no-seed'],
  frequencyPenalty: ['number', 'no-penalties'],
  presencePenalty: ['number', 'no-penalties'],
} as const satisfies Rows<Sampling>

const OUTPUT = {
  candidates: ['count', 'one-answer-only'],
  verbosity: ['text', 'no-verbosity'],
} as const satisfies Rows<Output>

const REQUEST = {
  parallelToolCalls: ['flag', 'no-tools'],
  endUser: ['text', 'no-end-user'],
  metadata: ['object', 'no-metadata'],
  serviceTier: ['text', 'no-tiers'],
  cacheKey: ['text', 'no-cache-keys'],
} as const satisfies Rows<CanonicalRequest>

/** The node of a request that has the setting. */
export type SettingPlace = 'sampling' | 'output' | 'request'
export type SettingName = keyof typeof SAMPLING | keyof typeof OUTPUT | keyof typeof REQUEST

/** One setting in one format. */
export interface Setting {
  readonly at: SettingPlace
  readonly field: SettingName
  readonly type: SettingType
  /** Why it is lost, where it is not written. */
  readonly lost: string
  /** The name of its field in the format; undefined where the format has none. */
  readonly wire: string | undefined
}

/** The settings of one format. */
export interface Settings {
  /** Those that are read as they are. */
  readonly read: readonly (Setting & { readonly wire: string })[]
  /** Those that are written as they are, and those that are lost. */
  readonly written: readonly Setting[]
  /** The names of their fields. */
  readonly taken: readonly string[]
}

const ALL: readonly Omit<Setting, 'wire'>[] = Object.entries({
  sampling: SAMPLING,
  output: OUTPUT,
  request: REQUEST,
}).flatMap(([at, rows]) =>
  Object.entries(rows).map(([field, [type, lost]]) => ({
    at: at as SettingPlace,
    field: field as SettingName,
    type,
    lost,
  })),
)

/**
 * The settings of a format.
 *
 * @param names the format's field for each setting that is read as it is.
 * @param apart settings that the format's own code writes, or reports as lost.
 */
export function settingsOf(
  names: { readonly [S in SettingName]?: string },
  apart: readonly SettingName[] = [],
): Settings {
  const all = ALL.map(setting => ({ ...setting, wire: names[setting.field] }))
  const read = all.filter((setting): setting is Setting & { wire: string } => setting.wire !== undefined)
  const written = all.filter(({ field }) => !apart.includes(field))
  return { read, written, taken: read.map(({ wire }) => wire) }
}

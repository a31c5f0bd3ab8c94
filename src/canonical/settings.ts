import type { CanonicalRequest, Output, Sampling } from './request.ts'

/*
 * Settings are request fields with one plain value, in the canonical model and in each format that has them. These rows
 * state a setting's position, its type and its loss reason. Tables per format (`src/formats/settings`) state its name
 * in that format. Readers, schemas, writers and losses are derived from the rows.
 */

export type SettingType = 'number' | 'count' | 'flag' | 'text' | 'object'

/** Type of each setting in a node, and its loss reason in formats that lack it. */
type SettingRows<N> = { readonly [Field in keyof N]?: readonly [type: SettingType, lost: string] }

const SAMPLING = {
  maxTokens: ['number', 'no-limit'],
  temperature: ['number', 'no-sampling'],
  topP: ['number', 'no-sampling'],
  topK: ['number', 'no-top-k'],
  seed: ['number', 'no-seed'],
  frequencyPenalty: ['number', 'no-penalties'],
  presencePenalty: ['number', 'no-penalties'],
} as const satisfies SettingRows<Sampling>

const OUTPUT = {
  candidates: ['count', 'one-answer-only'],
  verbosity: ['text', 'no-verbosity'],
} as const satisfies SettingRows<Output>

const REQUEST = {
  parallelToolCalls: ['flag', 'no-tools'],
  endUser: ['text', 'no-end-user'],
  metadata: ['object', 'no-metadata'],
  serviceTier: ['text', 'no-tiers'],
  cacheKey: ['text', 'no-cache-keys'],
} as const satisfies SettingRows<CanonicalRequest>

/** The request node that holds the setting. */
export type SettingNode = 'sampling' | 'output' | 'request'
export type SettingName = keyof typeof SAMPLING | keyof typeof OUTPUT | keyof typeof REQUEST

/** One setting in one format. */
export interface Setting {
  readonly at: SettingNode
  readonly field: SettingName
  readonly type: SettingType
  /** Loss reason if the setting is not written. */
  readonly lossReason: string
  /** The format's field name, or undefined if the format lacks the setting. */
  readonly wire: string | undefined
}

/** The settings of one format. */
export interface Settings {
  /** Settings that are read without conversion. */
  readonly read: readonly (Setting & { readonly wire: string })[]
  /** Settings that are written without conversion, or lost. */
  readonly written: readonly Setting[]
  /** The format's fields for all settings in `read`. */
  readonly taken: readonly string[]
}

const ALL_SETTINGS: readonly Omit<Setting, 'wire'>[] = Object.entries({
  sampling: SAMPLING,
  output: OUTPUT,
  request: REQUEST,
}).flatMap(([at, rows]) =>
  Object.entries(rows).map(([field, [type, lost]]) => ({
    at: at as SettingNode,
    field: field as SettingName,
    type,
    lossReason: lost,
  })),
)

/**
 * Derives the settings of a format.
 *
 * @param names the format's field for each setting that is read without conversion.
 * @param handledElsewhere settings that the format's own code writes or reports as lost.
 */
export function settingsOf(
  names: { readonly [S in SettingName]?: string },
  handledElsewhere: readonly SettingName[] = [],
): Settings {
  const all = ALL_SETTINGS.map(setting => ({ ...setting, wire: names[setting.field] }))
  const read = all.filter((setting): setting is Setting & { wire: string } => setting.wire !== undefined)
  const written = all.filter(({ field }) => !handledElsewhere.includes(field))
  return { read, written, taken: read.map(({ wire }) => wire) }
}

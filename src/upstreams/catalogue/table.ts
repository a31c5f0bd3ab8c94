import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../root.ts'

/** Kinds of tokens that have a price. */
export type TokenKind =
  | 'input'
  | 'output'
  | 'cacheRead'
  | 'cacheReadAudio'
  | 'cacheReadImage'
  | 'inputAudio'
  | 'outputAudio'
  | 'inputImage'
  | 'inputVideo'
  | 'outputImage'

/** Limits, capabilities and some prices of one model. Absent fields are unknown. Prices are US dollars. */
export interface ListedModel {
  /** Size of the context window, in tokens. */
  readonly context?: number
  /** Maximum length of an answer, in tokens. */
  readonly maxOutput?: number
  readonly input?: readonly string[]
  readonly output?: readonly string[]
  readonly reasoning?: boolean
  readonly tools?: boolean
  /** Prices of a million tokens of each kind, of models that have tokens of sound, images or videos. */
  readonly tokens?: { readonly [K in TokenKind]?: number }
  /** Factors on the prices of tokens, by service tier. */
  readonly tiers?: { readonly [tier: string]: number }
  /** Price of a search. */
  readonly search?: number
  /** True if a search is billed once for each of its queries. */
  readonly perQuery?: true
  /** Price of a request, in addition to its tokens. */
  readonly request?: number
  /** Price of a second of a transcribed recording. */
  readonly second?: number
  /** Price of a generated image. */
  readonly image?: number
  /** Price of a character of a text to speak. */
  readonly character?: number
  /** Price of a second of a generated video. */
  readonly videoSecond?: number
  /** Price of a second of a voice session. */
  readonly sessionSecond?: number
}

/** Origin of the table of models. */
export interface TableSource {
  readonly package: string
  readonly version: string
  readonly licence: string
  /** Date on which this was the package's newest version, such as `2026-11-23`. */
  readonly date: string
}

/** The checked-in table. `npm run catalogue` updates it. */
export interface ModelTable {
  readonly source: TableSource
  /** Models by name, in the spelling of `listedNames`. */
  readonly models: { readonly [name: string]: ListedModel }
}

/** Path of the checked-in table. */
export const TABLE_FILE: string = join(ROOT, 'catalogue', 'models.json')

let table: { readonly source: TableSource; readonly models: ReadonlyMap<string, ListedModel> } | undefined

/** Returns the table, which is loaded at the first lookup. */
function loadTable(): NonNullable<typeof table> {
  if (table === undefined) {
    const { source, models } = JSON.parse(readFileSync(TABLE_FILE, 'utf8')) as ModelTable
    table = { source, models: new Map(Object.entries(models)) }
  }
  return table
}

/** Returns the origin and date of the table. */
export const tableSource = (): TableSource => loadTable().source

/**
 * Returns the limits and capabilities of a model, regardless of the provider, or undefined if the model is not listed.
 */
export function listedModel(model: string): ListedModel | undefined {
  const { models } = loadTable()
  for (const name of listedNames(model)) {
    const found = models.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** Region and vendor prefix of model names at Amazon Bedrock, for example `us.anthropic.`. */
const BEDROCK = /^(?:(?:us-gov|us|eu|apac|au|ca|jp|global)\.)?[a-z0-9]+\.(?=[a-z])/
/** Version suffix of model names at Amazon Bedrock, for example `-v1:0`. */
const BEDROCK_VERSION = /-v\d+(?::\d+)?$/
/** Suffix for a variant of the same model's service, for example `:free`. */
const VARIANT = /:[a-z]+$/
/** Release date at the end of a name. */
const DATE = /[-@]\d{4}-?\d{2}-?\d{2}$/
/** Suffix that refers to the latest release. */
const LATEST = /(?:-latest|@default)$/

/** Organization, name and id of a fine-tuned model of OpenAI, after the model that was tuned. */
const OWNER = /^(ft:[^:]+):.*$/

/**
 * Returns the names under which a model may be listed, most specific first: the full name, the name without host
 * prefix, owner, variant and date, and finally that name with `-preview`. Names are in lower case, with `4-5` for `4.5`.
 */
export function listedNames(model: string): readonly string[] {
  const name = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(OWNER, '$1')
  const plain = name.replace(VARIANT, '').replace(BEDROCK, '').replace(BEDROCK_VERSION, '')
  const all = [name, plain].flatMap(one => [one, one.replace(DATE, ''), one.replace(LATEST, '')])
  return [...new Set([...all, `${plain}-preview`].map(one => one.replace(/(\d)\.(?=\d)/g, '$1-')))]
}

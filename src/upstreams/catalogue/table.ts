import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../root.ts'
import { listedNames } from './names.ts'

/** Limits and abilities of one model; absent fields are unknown. */
export interface ListedModel {
  /** Tokens of a prompt, and of an answer at most. */
  readonly context?: number
  readonly maxOutput?: number
  readonly input?: readonly string[]
  readonly output?: readonly string[]
  readonly reasoning?: boolean
  readonly tools?: boolean
}

/** Where the table of models comes from. */
export interface TableSource {
  readonly package: string
  readonly version: string
  readonly licence: string
  /** The day on which this was the package's newest version, e.g. `2026-11-23`. */
  readonly date: string
}

/** The checked-in table, which `npm run catalogue` renews. */
export interface ModelTable {
  readonly source: TableSource
  /** By name, as `listedNames` spells it. */
  readonly models: { readonly [name: string]: ListedModel }
}

export const TABLE_FILE: string = join(ROOT, 'catalogue', 'models.json')

let table: { readonly source: TableSource; readonly models: ReadonlyMap<string, ListedModel> } | undefined

/** The table is read with the first model that is looked up. */
function loaded(): NonNullable<typeof table> {
  if (table === undefined) {
    const { source, models } = JSON.parse(readFileSync(TABLE_FILE, 'utf8')) as ModelTable
    table = { source, models: new Map(Object.entries(models)) }
  }
  return table
}

/** Where the table comes from, and how old it is. */
export const tableSource = (): TableSource => loaded().source

/** Limits and abilities of a model, whoever runs it; undefined where it is not listed. */
export function listedModel(model: string): ListedModel | undefined {
  const { models } = loaded()
  for (const name of listedNames(model)) {
    const found = models.get(name)
    if (found !== undefined) return found
  }
  return undefined
}

import type { Json, JsonObject } from '../src/canonical/node.ts'
import { CONFIG_SCHEMA } from '../src/config/index.ts'
import type { Described } from '../src/config/setting.ts'

/* Tables of docs/settings.md: every setting of the config, as the schema describes it. */

/** The parts of a schema that a table shows. */
interface Schema extends Described {
  readonly type: string
  readonly entries?: { readonly [name: string]: Schema }
  readonly options?: readonly unknown[]
  readonly item?: Schema
  readonly value?: Schema
  readonly wrapped?: Schema
}

/** A setting: its path, with `[]` for items of a list and `NAME` for names of a map. */
export interface Setting {
  readonly path: readonly string[]
  readonly kind: string
  readonly isRequired: boolean
  readonly meaning: string
  readonly usual: Json | undefined
}

const PLURALS: { readonly [kind: string]: string } = {
  ...{ text: 'texts', size: 'sizes', key: 'keys', map: 'maps', 'text or map': 'texts or maps' },
  ...{ 'key or map': 'keys or maps', 'header name': 'header names', 'address or range': 'addresses or ranges' },
  ...{ 'origin, or `"*"`': 'origins, or `"*"`', 'http or https address': 'addresses' },
}

const ROOT = CONFIG_SCHEMA as unknown as Schema

/** Every setting at every depth, in the order of the schema. */
export const SETTINGS: readonly Setting[] = settingsIn(ROOT, [])

function settingsIn({ entries = {} }: Schema, above: readonly string[]): readonly Setting[] {
  return Object.entries(entries).flatMap(([name, entry]) => {
    const schema = entry.wrapped ?? entry
    const { meaning = '', usual } = entry
    const path = [...above, name]
    const setting = { path, kind: kindOf(schema), isRequired: entry.wrapped === undefined, meaning, usual }
    return [setting, ...nestedIn(schema, path)]
  })
}

/** Returns the settings of the maps that a value may be or contain. */
function nestedIn(schema: Schema, path: readonly string[]): readonly Setting[] {
  if (schema.entries !== undefined) return settingsIn(schema, path)
  if (schema.item !== undefined) return nestedIn(schema.item, [...path, '[]'])
  if (schema.value !== undefined && schema.valueKind === undefined) return nestedIn(schema.value, [...path, 'NAME'])
  return schema.type === 'union' && schema.valueKind === undefined
    ? (schema.options as readonly Schema[]).flatMap(option => nestedIn(option, path))
    : []
}

function kindOf(schema: Schema): string {
  if (schema.valueKind !== undefined) return schema.valueKind
  if (schema.type === 'picklist') return (schema.options as readonly string[]).map(one => `\`${one}\``).join(', ')
  if (schema.type === 'literal') return `\`${(schema as unknown as { readonly literal: string }).literal}\``
  if (schema.entries !== undefined) return 'map'
  if (schema.item !== undefined) return `list of ${plural(schema.item)}`
  if (schema.value !== undefined) return `map of ${plural(schema.value)}`
  return (schema.options as readonly Schema[]).map(kindOf).join(' or ')
}

function plural(schema: Schema): string {
  return PLURALS[kindOf(schema)] ?? kindOf(schema)
}

/** The sections of the page, each with its top-level settings. */
export const PAGE_SECTIONS: { readonly [section: string]: readonly string[] } = {
  ...{ server: ['server'], channels: ['channels'], models: ['models'], groups: ['groups'], keys: ['keys'] },
  ...{
    store: ['data_dir', 'store', 'encryption', 'redis'],
    usage: ['usage', 'capture'],
    metrics: ['metrics', 'traces'],
  },
  ...{ console: ['console'], responses: ['responses', 'thoughts'], realtime: ['realtime'], tasks: ['tasks'] },
  media: ['proxy', 'media'],
}

/** Returns the table of one section. */
export function settingTable(section: string): string {
  const rows = SETTINGS.filter(({ path }) => PAGE_SECTIONS[section]!.includes(path[0]!)).map(
    ({ path, kind, isRequired, meaning, usual }) =>
      `| \`${pathText(path)}\` | ${kind} | ${isRequired ? '*required*' : shown(usual)} | ${meaning} |`,
  )
  return `| Setting | Value | Default | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

const pathText = (path: readonly string[]): string => path.join('.').replaceAll('.[]', '[]')

const shown = (usual: Json | undefined): string =>
  usual === undefined ? '' : `\`${typeof usual === 'string' ? usual : JSON.stringify(usual)}\``

/** Returns a config with one setting, below the settings that its maps require. */
export function configWith(path: readonly string[], value: Json | undefined): JsonObject {
  return withIn(ROOT, path, value) as JsonObject
}

/** Values of required settings. */
const PLACEHOLDERS: { readonly [name: string]: Json } = {
  ...{ provider: 'ollama', key: 'a-key', otlp: 'http://127.0.0.1:4318', issuer: 'https://login.example' },
  ...{ type: 'google-metadata', roles: {} },
}

function withIn(schema: Schema, [step, ...rest]: readonly string[], value: Json | undefined): Json | undefined {
  if (step === undefined) return value
  const inner = (one: Schema): Json | undefined => withIn(one, rest, value)
  if (step === '[]') return [inner(listIn(schema).item!)!]
  if (step === 'NAME') return { name: inner(schema.value!)! }
  const entries = mapIn(schema, step)
  const needed = Object.entries(entries).flatMap(([name, entry]) =>
    entry.wrapped === undefined && name !== step ? [[name, PLACEHOLDERS[name] ?? 'a-text'] as const] : [],
  )
  const entry = entries[step]!
  const set = inner(entry.wrapped ?? entry)
  return { ...Object.fromEntries(needed), ...(set === undefined ? {} : { [step]: set }) }
}

const alternatives = (schema: Schema): readonly Schema[] =>
  schema.type === 'union' ? (schema.options as readonly Schema[]) : [schema]
const listIn = (schema: Schema): Schema => alternatives(schema).find(({ item }) => item !== undefined)!
const mapIn = (schema: Schema, step: string) =>
  alternatives(schema).find(({ entries }) => entries !== undefined && step in entries)!.entries!

import type { Provider, ProviderField } from '../../../api/types.ts'
import { editedFields } from '../../../edits.ts'
import { linesIn } from '../../../lines.ts'
import { isRecord } from '../../../record.ts'

/** A channel as the config file has it. */
export type ChannelConfig = { readonly [field: string]: unknown }

/** The API's stand-in for a stored secret. */
export interface KeptSecret {
  readonly secret: string
  readonly last_four: string
}

/** Contents of the form. */
export interface EditorValues {
  readonly name: string
  readonly provider: string
  /** Type of the sign-in at the provider's cloud. Empty for a key. */
  readonly auth: string
  /** Values of the provider's fields and of the sign-in's, by their paths in the config: `key`, `auth.client_secret`. */
  readonly fields: { readonly [path: string]: string }
  /** Stored secrets, by their paths. They stay unless another value is written. */
  readonly kept: { readonly [path: string]: KeptSecret }
  /** One model or pattern per line; `public = upstream` for an alias. */
  readonly models: string
  readonly priority: string
  readonly weight: string
  readonly max_concurrent: string
  /** All other fields, as JSON. */
  readonly more: string
}

/** Fields of a provider that are no texts, and have a field of their own. */
const SPECIAL = new Set(['models'])
const NUMBERS = ['priority', 'weight', 'max_concurrent'] as const

export const isKept = (value: unknown): value is KeptSecret =>
  typeof value === 'object' && value !== null && 'secret' in value && 'last_four' in value

/** The fields of a provider with their paths, for a key or for a sign-in. */
export function pathsOf(provider: Provider, auth: string): readonly (readonly [path: string, field: ProviderField])[] {
  const signIn = provider.auth.find(({ type }) => type === auth)?.fields ?? []
  return [
    ...provider.fields
      .filter(({ name }) => !SPECIAL.has(name) && (name !== 'key' || auth === ''))
      .map(field => [field.name, field] as const),
    ...signIn.map(field => [`auth.${field.name}`, field] as const),
  ]
}

export const newValues = (provider: string): EditorValues => ({
  ...{ name: provider, provider, auth: '', fields: {}, kept: {}, models: '' },
  ...{ priority: '', weight: '', max_concurrent: '', more: '' },
})

/** Reads a stored config into the form. What the form has no field for is in `more`. */
export function valuesOf(config: ChannelConfig, provider: Provider): EditorValues {
  const { name, provider: _, auth, models, ...rest } = config
  const signIn = isRecord(auth) ? auth : {}
  const type = typeof signIn['type'] === 'string' ? signIn['type'] : ''
  const fields: Record<string, string> = {}
  const kept: Record<string, KeptSecret> = {}
  const used = new Set<string>()
  for (const [path] of pathsOf(provider, type)) {
    const value = path.startsWith('auth.') ? signIn[path.slice(5)] : rest[path]
    const written = writtenOf(value)
    if (isKept(value)) kept[path] = value
    else if (written !== undefined) fields[path] = written
    else continue
    used.add(path)
  }
  const lines = linesOf(models)
  const left = Object.entries(rest).filter(([field]) => !used.has(field) && !NUMBERS.some(one => one === field))
  const more = [...left, ...(lines === undefined ? [['models', models] as const] : [])]
  return {
    ...{ name: String(name ?? ''), provider: provider.name, auth: type, fields, kept, models: lines ?? '' },
    ...{ priority: textOf(rest['priority']), weight: textOf(rest['weight']) },
    ...{ max_concurrent: textOf(rest['max_concurrent']) },
    more: more.length === 0 ? '' : JSON.stringify(Object.fromEntries(more), null, 2),
  }
}

const textOf = (value: unknown): string => (value === undefined ? '' : String(value))

/** The text of a field: itself, or the names of a list. Undefined for anything else. */
function writtenOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value.join(', ')
  return undefined
}

/** Models as lines. Undefined for settings that lines cannot express. */
function linesOf(models: unknown): string | undefined {
  if (models === undefined) return ''
  if (Array.isArray(models)) return models.every(one => typeof one === 'string') ? models.join('\n') : undefined
  if (!isRecord(models) || !Object.values(models).every(one => typeof one === 'string')) return undefined
  return Object.entries(models)
    .map(([id, upstream]) => (id === upstream ? id : `${id} = ${upstream}`))
    .join('\n')
}

/** The config that the form describes. Throws a SyntaxError if the further fields are no JSON object. */
export function configOf(values: EditorValues, provider: Provider): ChannelConfig {
  const { name, auth, fields, kept, models, more } = values
  const further: unknown = more.trim() === '' ? {} : JSON.parse(more)
  if (!isRecord(further)) throw new SyntaxError('expected an object in braces')
  const signIn: Record<string, unknown> = {}
  const config: Record<string, unknown> = { name: name.trim(), provider: provider.name, ...further }
  for (const [path] of pathsOf(provider, auth)) {
    const written = fields[path]?.trim() ?? ''
    const value = written === '' ? kept[path] : path === 'formats' ? listOf(written) : written
    if (value === undefined) continue
    if (path.startsWith('auth.')) signIn[path.slice(5)] = value
    else config[path] = value
  }
  if (auth !== '') config['auth'] = { type: auth, ...signIn }
  const listed = modelsOf(models)
  if (listed !== undefined) config['models'] = listed
  for (const field of NUMBERS) if (values[field].trim() !== '') config[field] = numberOf(values[field])
  return config
}

/**
 * The change from one config to another: the fields that differ, and null for those that are gone, so that what others
 * changed meanwhile stays.
 */
export const changeOf = (before: ChannelConfig, after: ChannelConfig): ChannelConfig =>
  Object.fromEntries(editedFields(before, after).map(field => [field, after[field] ?? null]))

const listOf = (text: string): readonly string[] => linesIn(text, /[\s,，、]+/)

/** A list of models, or the map of public and upstream ids if a line has an alias. Undefined without lines. */
function modelsOf(text: string): readonly string[] | { readonly [id: string]: string } | undefined {
  const lines = linesIn(text)
  if (lines.length === 0) return undefined
  const pairs = lines.map(line => /^(.*?)\s*[=＝]\s*(.*)$/.exec(line)?.slice(1) ?? [line])
  if (pairs.every(pair => pair.length === 1)) return lines
  return Object.fromEntries(pairs.map(([id = '', upstream = id]) => [id, upstream]))
}

/**
 * Sends text that is no number as written, so that the gateway names the fault. A number without end would become null
 * in JSON, which removes the field.
 */
const numberOf = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text)

import { randomBytes } from 'node:crypto'
import type { Path } from '../canonical/loss.ts'
import { isObject, type JsonObject } from '../canonical/node.ts'
import { AUTH_FIELDS } from './auth.ts'
import type { PathFault } from './issues.ts'
import { endingOf } from './key-pool.ts'

/** A channel as written, before any check. */
export type Written = { readonly [field: string]: unknown }

/** Reads or replaces one secret of a channel. */
type Visit = (secret: unknown, path: Path) => unknown

/** Fields with secrets. Each function returns the value of its field with the secrets replaced. */
const FIELDS: { readonly [field: string]: (value: unknown, visit: Visit) => unknown } = {
  key: (key, visit) => (key === 'none' ? key : visit(key, ['key'])),
  keys: (keys, visit) => eachOf(keys, (one, index) => keyIn(one, ['keys', index], visit)),
  auth: (auth, visit) =>
    eachOf(auth, (one, field) =>
      (AUTH_FIELDS as { readonly [field: string]: boolean })[field] === true ? visit(one, ['auth', field]) : one,
    ),
  headers: (headers, visit) => eachOf(headers, (one, name) => visit(one, ['headers', name])),
  tls: (tls, visit) => eachOf(tls, (one, field) => (field === 'key' ? visit(one, ['tls', field]) : one)),
  proxy: (proxy, visit) => (mayHavePassword(proxy) ? visit(proxy, ['proxy']) : proxy),
  base_url: (url, visit) =>
    isReference(url) || typeof url === 'string'
      ? urlIn(url, ['base_url'], visit)
      : eachOf(url, (one, format) => urlIn(one, ['base_url', format], visit)),
}

/** Returns a copy of a channel with each secret replaced by the result of `visit`. */
export const mapSecrets = (channel: Written, visit: Visit): Written =>
  Object.fromEntries(
    Object.entries(channel).map(([field, value]) => [
      field,
      value !== undefined && Object.hasOwn(FIELDS, field) ? FIELDS[field]!(value, visit) : value,
    ]),
  )

/** Returns a channel's settings for the audit log, with each secret replaced by its id, which changes with it. */
export const auditedSettings = (channel: Written): Written =>
  mapSecrets(channel, secret => (isReference(secret) ? `secret ${secret.secret}` : ''))

/** Replaces the secret of a pool's key, which is the secret itself or a map that contains it. */
const keyIn = (entry: unknown, path: Path, visit: Visit): unknown =>
  isObject(entry) && !isReference(entry) && Object.hasOwn(entry, 'key')
    ? { ...entry, key: visit(entry['key'], [...path, 'key']) }
    : visit(entry, path)

const urlIn = (url: unknown, path: Path, visit: Visit): unknown => (mayHavePassword(url) ? visit(url, path) : url)

/** Returns true for a URL that may contain a password, and for a reference that replaced such a URL. */
const mayHavePassword = (url: unknown): boolean =>
  isReference(url) || (typeof url === 'string' && /^\w+:\/\/[^/]*@/.test(url))

/** Maps the entries of a list or map. Any other value is returned unchanged. */
function eachOf(value: unknown, change: (one: unknown, key: never) => unknown): unknown {
  if (Array.isArray(value)) return value.map((one, index) => change(one, index as never))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one, key as never)]))
}

/** Placeholder for a secret in the API. A request that sends it back leaves the secret unchanged. */
export interface SecretReference {
  readonly secret: string
  readonly last_four: string
}

/** Returns true for a reference to a stored secret. */
export const isReference = (value: unknown): value is SecretReference =>
  isObject(value) &&
  typeof value['secret'] === 'string' &&
  Object.keys(value).every(name => Object.hasOwn(REFERENCE, name))

const REFERENCE = { secret: '', last_four: '' } satisfies SecretReference

/** Secrets of a channel, by random id. */
export type Secrets = ReadonlyMap<string, string>

/**
 * Replaces the secrets of a checked channel with references.
 *
 * @param before the channel's previous secrets. A secret that has not changed keeps its id.
 */
export function splitSecrets(
  channel: Written,
  before: Secrets = new Map(),
): { readonly settings: JsonObject; readonly secrets: Secrets } {
  const idOf = new Map([...before].map(([id, text]) => [text, id]))
  const secrets = new Map<string, string>()
  const settings = mapSecrets(channel, value => {
    const text = String(value)
    const id = idOf.getOrInsertComputed(text, () => randomBytes(4).toString('hex'))
    secrets.set(id, text)
    return { secret: id, last_four: endingOf(text) } satisfies SecretReference
  })
  return { settings: settings as JsonObject, secrets }
}

/** Replaces references with their secrets. Reports references to unknown secrets. */
export function joinSecrets(
  settings: Written,
  secrets: Secrets,
): { readonly channel: Written; readonly faults: readonly PathFault[] } {
  const faults: PathFault[] = []
  const channel = mapSecrets(settings, (value, path) => {
    if (!isReference(value)) return value
    const text = secrets.get(value.secret)
    if (text === undefined) faults.push({ path, message: 'refers to a secret that is not stored' })
    return text
  })
  return { channel, faults }
}

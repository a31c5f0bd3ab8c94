import type { IncomingHttpHeaders } from 'node:http'
import { type JsonObject, parseObject } from '../../canonical/node.ts'
import { percentDecoded } from '../../canonical/text.ts'
import { secretsOf as authSecretsOf } from '../../config/auth.ts'
import type { ChannelConfig, Config } from '../../config/index.ts'
import { credentialsInBody, credentialsInUnreadable } from '../../kit/body-credentials.ts'
import { HARMLESS_HEADERS, isHarmlessParameter } from '../../kit/public-headers.ts'
import { isCredential, SECRET_NAME } from '../../kit/secret-names.ts'
import { SHORTEST_KEY } from '../../kit/secret-pattern.ts'
import { keyPairOf } from '../../upstreams/channel/index.ts'
import type { Scrub } from '../scrub.ts'
import { withoutKeys } from '../secrets.ts'

/** Replacement of a secret in a captured request. */
export const REMOVED_TEXT = '[removed]'

/** Matches versions and dates, which are common in queries and fixed headers. */
const VERSION = /^v?[\d.-]{1,12}(-preview|-beta)?$/

/** Minimum number of characters of a text that counts as a secret because of its field. */
const MIN_SECRET_LENGTH = 8

/** Returns a message's headers without values that may be secret. The result must still be scrubbed. */
export const shownHeaders = (headers: IncomingHttpHeaders): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, HARMLESS_HEADERS.test(name) ? String(value) : REMOVED_TEXT]],
    ),
  )

/** Returns query parameters without values that may be secret. */
export const shownQuery = (query: URLSearchParams): { readonly [name: string]: string } =>
  Object.fromEntries([...query].map(([name, value]) => [name, isHarmlessParameter(name) ? value : REMOVED_TEXT]))

/**
 * Returns the possible secrets of a request: its credentials, and the values of all headers and parameters that may be
 * secret. A plain word is one only under a name for secrets, because bodies contain words such as `production`, too.
 */
export function secretsOfRequest(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  credential: string | undefined,
): string[] {
  const hidden = [
    ...Object.entries(headers).filter(([name]) => !HARMLESS_HEADERS.test(name)),
    ...[...query].filter(([name]) => !isHarmlessParameter(name)),
  ].map(([name, value = '']) => ({ isNamed: SECRET_NAME.test(name), parts: [value].flat().flatMap(partsOf) }))
  const basic = /^basic\s+(\S+)/i.exec(headers.authorization ?? '')?.[1]
  const decoded = basic === undefined ? [] : [Buffer.from(basic, 'base64').toString('utf8')]
  const cookies = (headers.cookie ?? '').split(/;\s*/).map(pair => pair.slice(pair.indexOf('=') + 1))
  const named = hidden.filter(({ isNamed }) => isNamed).flatMap(({ parts }) => parts)
  const unnamed = hidden.flatMap(({ parts }) => parts).filter(isCredential)
  const parts = [...named, ...unnamed, ...[...cookies, ...decoded].flatMap(partsOf)]
  return [...parts.filter(isLong), ...(credential === undefined ? [] : [credential])]
}

/** Returns a value and the parts into which its separators divide it. */
const partsOf = (value: string): readonly string[] => [value, ...value.split(/[\s,;=:]+/)]

/** Returns the secrets that a body gives to the upstream for other services, such as the headers for an MCP server. */
export const secretsOfBody = (body: JsonObject): readonly string[] =>
  credentialsInBody(body, path => !HARMLESS_HEADERS.test(path.slice(path.lastIndexOf('.') + 1).toLowerCase()))

/** Like `secretsOfBody`, for the text of a body that the endpoint could not read. */
export function secretsOfUnread(text: string): readonly string[] {
  const body = parseObject(text)
  return body === undefined ? credentialsInUnreadable(text) : secretsOfBody(body)
}

/**
 * Returns the secrets of a channel: its key or the secrets of its sign-in, and any secret parts of its addresses and
 * fixed headers.
 */
export function secretsOfChannel({ key = '', auth, formats }: ChannelConfig): string[] {
  const pair = keyPairOf(key)
  const fixedValues = formats.flatMap(({ headers, query, baseUrl }) => [
    ...[...Object.values(headers), ...Object.values(query)].flatMap(value => [value, ...value.split(/\s+/)]),
    ...passwordsIn(baseUrl),
  ])
  const ownSecrets = [...(pair === undefined ? [] : [pair.access, pair.secret]), ...(auth ? authSecretsOf(auth) : [])]
  return [key, ...ownSecrets, ...fixedValues.filter(isLong)]
}

const isLong = (value: string): boolean => value.length >= MIN_SECRET_LENGTH && !VERSION.test(value)

const SECRET_FIELD_NAMES = /secret|password|passphrase|token|headers/i

/** Returns the config's secrets: those of channels, values of fields named like secrets, and passwords in addresses. */
export function secretsOfConfig({ channels, keys: _, models: __, groups: ___, ...rest }: Config): string[] {
  const secrets: string[] = channels.flatMap(secretsOfChannel)
  const walk = (value: unknown, isSecret: boolean): void => {
    if (typeof value === 'string') {
      if (isSecret) secrets.push(value)
      for (const password of passwordsIn(value)) secrets.push(password)
    } else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) walk(item, isSecret || SECRET_FIELD_NAMES.test(name))
  }
  walk(rest, false)
  return secrets
}

function passwordsIn(text: string): string[] {
  if (!text.includes('@') || !URL.canParse(text)) return []
  const { username, password } = new URL(text)
  return [username, password]
    .flatMap(value => [value, percentDecoded(value)])
    .filter(({ length }) => length >= SHORTEST_KEY)
}

/** Builds a function that removes these secrets and every string that looks like a key. */
export function scrubberOf(...known: readonly (RegExp | undefined)[]): Scrub {
  const patterns = known.filter(pattern => pattern !== undefined)
  return text => withoutKeys(patterns.reduce((text, pattern) => text.replace(pattern, REMOVED_TEXT), text))
}

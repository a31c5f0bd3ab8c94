import type { IncomingHttpHeaders } from 'node:http'
import { percentDecoded } from '../../canonical/text.ts'
import type { ChannelConfig, Config } from '../../config/index.ts'
import { keyPairOf } from '../../upstreams/channel/index.ts'
import type { Scrub } from '../scrub.ts'
import { withoutKeys } from '../secrets.ts'

export const REMOVED = '[removed]'

/** Headers whose values are no secrets: what clients send about themselves and the request. */
const HARMLESS_HEADERS =
  /^(accept(-.+)?|content-(type|length|encoding|language)|user-agent|host|connection|cache-control|transfer-encoding|date|server|vary|via|etag|age|x-stainless-.+|anthropic-(version|beta|dangerous-direct-browser-access|ratelimit-.+)|x-ratelimit-.+|retry-after(-ms)?|openai-(beta|version|processing-ms|model)|x-goog-api-client|interlingua-.+|x-title|x-app|originator|version|traceparent|(x-)?request-id|x-client-request-id|x-should-retry|sec-fetch-.+|sec-ch-ua.*|sec-websocket-version|upgrade|x-fern-.+|x-accel-buffering|x-content-type-options|strict-transport-security|server-timing|msgfmt-version)$/
/** Query parameters likewise. */
const HARMLESS_PARAMETERS = /^(alt|beta|api-version|model|stream|language|detect_language|punctuate|smart_format)$/
/** Versions and dates, which stand in queries and fixed headers. */
const VERSION = /^v?[\d.-]{1,12}(-preview|-beta)?$/

/** Characters a text has at least that is taken for a secret because of where it stands. */
const SHORTEST = 8
const SHORTEST_KEY = 4

/** The headers of a message, with values only where they are no secret; what is shown is still to be scrubbed. */
export const shownHeaders = (headers: IncomingHttpHeaders): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, HARMLESS_HEADERS.test(name) ? String(value) : REMOVED]],
    ),
  )

/** A query likewise. */
export const shownQuery = (query: URLSearchParams): { readonly [name: string]: string } =>
  Object.fromEntries([...query].map(([name, value]) => [name, HARMLESS_PARAMETERS.test(name) ? value : REMOVED]))

/** What a request may hold as a secret: its credentials, and whatever stands where secrets may stand. */
export function secretsOfRequest(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  credential: string | undefined,
): string[] {
  const hidden = [
    ...Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HARMLESS_HEADERS.test(name) ? [] : [value].flat(),
    ),
    ...[...query].flatMap(([name, value]) => (HARMLESS_PARAMETERS.test(name) ? [] : [value])),
  ]
  const basic = /^basic\s+(\S+)/i.exec(headers.authorization ?? '')?.[1]
  const decoded = basic === undefined ? [] : [Buffer.from(basic, 'base64').toString('utf8')]
  const cookies = (headers.cookie ?? '').split(/;\s*/).map(pair => pair.slice(pair.indexOf('=') + 1))
  const parts = [...hidden, ...cookies, ...decoded].flatMap(value => [value, ...value.split(/[\s,;=:]+/)])
  return [...parts.filter(isLong), ...(credential === undefined ? [] : [credential])]
}

/** The secrets of a channel: its key, and what of its addresses and fixed headers may be one. */
export function secretsOfChannel({ key = '', formats }: ChannelConfig): string[] {
  const pair = keyPairOf(key)
  const fixed = formats.flatMap(({ headers, query, baseUrl }) => [
    ...[...Object.values(headers), ...Object.values(query)].flatMap(value => [value, ...value.split(/\s+/)]),
    ...passwordsIn(baseUrl),
  ])
  return [key, ...(pair === undefined ? [] : [pair.access, pair.secret]), ...fixed.filter(isLong)]
}

const isLong = (value: string): boolean => value.length >= SHORTEST && !VERSION.test(value)

const NAMES = /secret|password|passphrase|token|headers/i

/** The secrets of everything else an operator configured: what stands under such a name, and passwords in addresses. */
export function secretsOfConfig({ channels, keys: _, models: __, groups: ___, ...rest }: Config): string[] {
  const found: string[] = channels.flatMap(secretsOfChannel)
  const walk = (value: unknown, isSecret: boolean): void => {
    if (typeof value === 'string') {
      if (isSecret) found.push(value)
      for (const password of passwordsIn(value)) found.push(password)
    } else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) walk(item, isSecret || NAMES.test(name))
  }
  walk(rest, false)
  return found
}

function passwordsIn(text: string): string[] {
  if (!text.includes('@') || !URL.canParse(text)) return []
  const { username, password } = new URL(text)
  return [username, password].flatMap(one => [one, percentDecoded(one)]).filter(one => one.length >= SHORTEST_KEY)
}

/** Removes these secrets in every spelling in which they may come back, and what looks like a key. */
export function scrubberOf(...known: readonly (RegExp | undefined)[]): Scrub {
  const patterns = known.filter(pattern => pattern !== undefined)
  return text => withoutKeys(patterns.reduce((text, pattern) => text.replace(pattern, REMOVED), text))
}

/** The secrets as one pattern, the longest first: one may begin with another. */
export function patternOf(secrets: readonly string[]): RegExp | undefined {
  const known = new Set(secrets.filter(({ length }) => length >= SHORTEST_KEY).flatMap(spellings))
  if (known.size === 0) return undefined
  return new RegExp(
    [...known]
      .sort((a, b) => b.length - a.length)
      .map(RegExp.escape)
      .join('|'),
    'gi',
  )
}

function spellings(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const bare = [secret, escaped, JSON.stringify(escaped).slice(1, -1), encoded(secret), secret.trim()]
  const base64 = secret.length < SHORTEST ? [] : (['base64', 'base64url'] as const).map(name => inBase64(secret, name))
  return [...bare, ...base64].filter(({ length }) => length >= SHORTEST_KEY)
}

/** A half of a character cannot be encoded. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const inBase64 = (text: string, name: 'base64' | 'base64url'): string =>
  Buffer.from(text).toString(name).replace(/=+$/, '')

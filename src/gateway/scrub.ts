import type { Json } from '../canonical/node.ts'
import { forwardable, type Headers, keyPairOf } from '../channel/index.ts'
import type { Target } from '../router.ts'
import { withoutAddresses, withoutKeys } from './secrets.ts'

export type Scrub = (text: string) => string
type Whose = Pick<Target, 'channel' | 'format'>

/** Replaces what would reveal the upstream, or the gateway's credentials there. */
const UPSTREAM = '[upstream]'

/** What is removed from upstream messages: the channel's names, addresses and credentials, and what looks like another's. */
export function scrubber(target: Target, model: string): Scrub {
  const { channel, upstreamModel } = target
  const own = secretsOf(target)
  const names = [[channel.name, UPSTREAM], ...(upstreamModel === model ? [] : [[upstreamModel, model] as const])].map(
    ([name, other]) => [new RegExp(`(?<![\\w-])${RegExp.escape(name!)}(?![\\w-])`, 'g'), other!] as const,
  )
  return text => {
    const safe = withoutAddresses(withoutKeys(own === undefined ? text : text.replace(own, UPSTREAM)))
    return names.reduce((text, [name, other]) => text.replace(name, () => other), safe)
  }
}

/** The same value with every text in it scrubbed, names of fields among them. */
export function scrubbed(value: Json, scrub: Scrub): Json {
  if (typeof value === 'string') return scrub(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => scrubbed(item, scrub))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [scrub(name), scrubbed(item, scrub)]))
}

/** What a caller of the upstream's own format may see of its headers (trap 78). */
export function publicHeaders(headers: Headers, target: Target, model: string): { [name: string]: string } {
  const seen: { [name: string]: string } = forwardable(headers)
  for (const name in seen) if (!HARMLESS.test(seen[name]!)) seen[name] = scrubber(target, model)(seen[name]!)
  return seen
}

/** Counts, times and words of a few letters, as these headers have them. */
const HARMLESS = /^[\d\s.,:;+-]*(?:[a-z]{1,5}[\d\s.,:;+-]*){0,4}$/i

/** A text for the log: with addresses, without keys. */
export function withoutCredentials(text: string, whose: Whose): string {
  const own = credentialsOf(whose)
  return withoutKeys(own === undefined ? text : text.replace(own, '[key]'))
}

/**
 * What went wrong beneath, for the log. Errors of libraries carry what they choked on, which may be what the upstream
 * echoed: only their names, words and codes are kept.
 */
export function loggable(cause: unknown, whose: Whose): object | undefined {
  if (!(cause instanceof Error)) return undefined
  const { name, message, stack, code } = cause as Error & { readonly code?: unknown }
  const words = cause instanceof AggregateError ? cause.errors.map(String).join('; ') : message
  return {
    type: name,
    message: withoutCredentials(words, whose),
    ...(typeof code === 'string' ? { code } : {}),
    stack: withoutCredentials(stack ?? '', whose),
    ...(cause.cause instanceof Error ? { cause: loggable(cause.cause, whose) } : {}),
  }
}

/* Made once for each way to an upstream: headers of every answer are looked at. */
const secrets = new WeakMap<Whose['format'], RegExp | undefined>()
const credentials = new WeakMap<Whose['format'], RegExp | undefined>()

const secretsOf = (whose: Whose): RegExp | undefined =>
  secrets.getOrInsertComputed(whose.format, ({ baseUrl }) => {
    const { origin, host, hostname } = URL.canParse(baseUrl) ? new URL(baseUrl) : { origin: '', host: '', hostname: '' }
    return anyOf([...shown(whose), baseUrl, origin, host, hostname], keysOf(whose))
  })

const credentialsOf = (whose: Whose): RegExp | undefined =>
  credentials.getOrInsertComputed(whose.format, () => anyOf(shown(whose), keysOf(whose)))

/** All the gateway shows an upstream that may be a credential, in the spellings in which it may come back. */
function shown(whose: Whose): string[] {
  const { baseUrl, headers, query } = whose.format
  const { username = '', password = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {}
  const fixed = [...Object.values(headers), ...Object.values(query), password].filter(isSecret)
  return [...keysOf(whose), ...fixed].flatMap(secret => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...(isSecret(secret) ? [secret, `${username}:${secret}`].map(inBase64) : []),
  ])
}

/** The channel's key, and the parts of one that has two: tokens are known by their look. */
function keysOf({ channel: { key = '' }, format }: Whose): readonly string[] {
  const pair = format.auth === 'jwt' ? keyPairOf(key) : undefined
  return pair === undefined ? [key] : [key, pair.access, pair.secret]
}

/** Short words that go with every request are none. */
const isSecret = (text: string): boolean => text.length >= 8

const inBase64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '')

/** Longer ones first: an address begins with another. A key that is masked or cut off is known by its beginning. */
function anyOf(texts: readonly string[], keys: readonly string[]): RegExp | undefined {
  const known = [...new Set(texts)].filter(({ length }) => length > 3).sort((a, b) => b.length - a.length)
  const begun = keys
    .filter(({ length }) => length >= LONG)
    .map(key => `${RegExp.escape(key.slice(0, BEGINNING))}[\\w*.…-]*`)
  const all = [...known.map(RegExp.escape), ...begun]
  return all.length === 0 ? undefined : new RegExp(all.join('|'), 'gi')
}

const LONG = 20
const BEGINNING = 12

import type { Json } from '../canonical/node.ts'
import { forwardable, type Headers, keyPairOf } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { withoutAccounts, withoutAddresses, withoutKeys } from './secrets.ts'

export type Scrub = (text: string) => string
type Whose = Pick<Target, 'channel' | 'format'>

/** Replaces what would reveal the upstream, or the gateway's credentials there. */
const UPSTREAM = '[upstream]'

/**
 * What is removed from upstream messages: the channel's addresses and credentials, what looks like another's, and names
 * that the caller does not know. A channel or a model may be called like a word or a field (`messages`), so a name is
 * replaced only where it is quoted (trap 114); a model's also where no word is spelled like it.
 */
export function scrubber(target: Target, model: string): Scrub {
  const { channel, upstreamModel } = target
  const own = secretsOf(target)
  const names: (readonly [RegExp, string])[] = []
  if (channel.name !== model) names.push([quoted(channel.name), UPSTREAM])
  if (upstreamModel !== model)
    names.push([WORD.test(upstreamModel) ? quoted(upstreamModel) : whole(upstreamModel), model])
  return text => {
    const safe = withoutAddresses(withoutAccounts(withoutKeys(own === undefined ? text : text.replace(own, UPSTREAM))))
    return names.reduce((text, [name, other]) => text.replace(name, () => other), safe)
  }
}

/** What an ordinary word, a field or the path of one may be. */
const WORD = /^[\p{L}_.]*$/u

const whole = (name: string): RegExp => new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`, 'g')

/** A name between quotes, where the steps of a path may precede it (`'models/pro'`). */
const quoted = (name: string): RegExp =>
  new RegExp(`(?<=["'\`‘’“”„«»](?:[\\w.-]{1,40}/){0,5})${RegExp.escape(name)}(?=\\\\?["'\`‘’“”«»])`, 'g')

/** The same value with every text in it scrubbed, names of fields among them. */
export function scrubbed(value: Json, scrub: Scrub): Json {
  if (typeof value === 'string') return scrub(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => scrubbed(item, scrub))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name),
      typeof item === 'string' && NAMING.test(name) ? scrub(`"${item}"`).slice(1, -1) : scrubbed(item, scrub),
    ]),
  )
}

/** Fields whose whole value is a name, which JSON has in quotes. */
const NAMING = /^(?:model|deployment|engine|channel|provider|upstream|server)(?:[_-]?(?:name|id))?$/i

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
    const patterns = URL.canParse(baseUrl) ? hostPatterns(new URL(baseUrl)) : []
    return anyOf([...shown(whose), baseUrl], keysOf(whose), patterns)
  })

/**
 * Where a host is named. One without a dot, as containers have, may be a word (`chat`, `api`): it counts where it has its
 * port, and where a host is expected.
 */
function hostPatterns({ origin, host, hostname }: URL): readonly string[] {
  const name = RegExp.escape(hostname)
  if (/[.:]/.test(hostname)) return [origin, host, hostname].map(RegExp.escape)
  const port = host === hostname ? ':\\d{1,5}' : RegExp.escape(host.slice(hostname.length))
  return [RegExp.escape(origin), `(?<![\\w.-])${name}${port}(?!\\d)`, `(?<=${BEFORE_HOST})${name}(?![\\w-])`]
}

/** What stands before a host: an address, a quote, or the words of resolvers and sockets. */
const BEFORE_HOST = '//|@|["\'`]|\\b(?:lookup|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|tcp|host|hostname)[ :=]{1,2}'

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

/**
 * One pattern for texts, patterns and keys. Longer texts come first: an address begins with another. A short key is one
 * only as a whole word; a long one that is masked or cut off is known by its beginning.
 */
function anyOf(
  texts: readonly string[],
  keys: readonly string[],
  patterns: readonly string[] = [],
): RegExp | undefined {
  const known = [...new Set(texts)].filter(({ length }) => length > 3).sort((a, b) => b.length - a.length)
  const begun = keys
    .filter(({ length }) => length >= LONG)
    .map(key => `${RegExp.escape(key.slice(0, BEGINNING))}[\\w*.…-]*`)
  const whole = known.map(text =>
    isSecret(text) ? RegExp.escape(text) : `(?<![\\w-])${RegExp.escape(text)}(?![\\w-])`,
  )
  const all = [...whole, ...patterns, ...begun]
  return all.length === 0 ? undefined : new RegExp(all.join('|'), 'gi')
}

const LONG = 20
const BEGINNING = 12

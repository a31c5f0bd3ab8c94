import type { Json } from '../canonical/node.ts'
import { secretsOf as authSecretsOf } from '../config/auth.ts'
import { inBase64 } from '../kit/secret-pattern.ts'
import { forwardable, type Headers, keyPairOf } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { withoutAccounts, withoutAddresses, withoutKeys } from './secrets.ts'

/** Removes from a string everything that its reader must not see. */
export type Scrub = (text: string) => string
/** Channel and format whose secrets are removed. */
type SecretOwner = Pick<Target, 'channel' | 'format'>

/** Replacement for text that would reveal the upstream or the gateway's credentials for it. */
const UPSTREAM_PLACEHOLDER = '[upstream]'

/**
 * Builds a function that removes from an upstream's messages the channel's addresses and credentials, everything that
 * looks like a credential, and names that the caller does not know. The name of a channel or model may also be a word
 * or a field (`messages`), so names are replaced only in quotes (trap 114). A model name that cannot be a word is also
 * replaced without quotes.
 */
export function scrubber(target: Target, model: string): Scrub {
  const { channel, upstreamModel } = target
  const secretPattern = secretsOf(target)
  const names: (readonly [RegExp, string])[] = []
  if (channel.name !== model) names.push([quotedName(channel.name), UPSTREAM_PLACEHOLDER])
  if (upstreamModel !== model)
    names.push([POSSIBLE_WORD.test(upstreamModel) ? quotedName(upstreamModel) : wholeWord(upstreamModel), model])
  return text => {
    const safe = withoutAddresses(
      withoutAccounts(
        withoutKeys(secretPattern === undefined ? text : text.replace(secretPattern, UPSTREAM_PLACEHOLDER)),
      ),
    )
    return names.reduce((text, [name, replacement]) => text.replace(name, () => replacement), safe)
  }
}

/** Matches a string that could be an ordinary word, a field or a path of fields. */
const POSSIBLE_WORD = /^[\p{L}_.]*$/u

const wholeWord = (name: string): RegExp => new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`, 'g')

/** Matches a name in quotes, including one at the end of a path (`'models/pro'`). */
const quotedName = (name: string): RegExp =>
  new RegExp(`(?<=["'\`‘’“”„«»](?:[\\w.-]{1,40}/){0,5})${RegExp.escape(name)}(?=\\\\?["'\`‘’“”«»])`, 'g')

/** Scrubs every string in a JSON value, including field names. */
export function scrubJson(value: Json, scrub: Scrub): Json {
  if (typeof value === 'string') return scrub(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => scrubJson(item, scrub))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name),
      typeof item === 'string' && NAME_FIELDS.test(name) ? scrub(`"${item}"`).slice(1, -1) : scrubJson(item, scrub),
    ]),
  )
}

/** Matches fields whose value is a name. Their values are scrubbed like names in quotes, because JSON quotes them. */
const NAME_FIELDS = /^(?:model|deployment|engine|channel|provider|upstream|server)(?:[_-]?(?:name|id))?$/i

/**
 * Returns the upstream's headers that a caller of the same format may see (trap 78), with scrubbed values.
 */
export function publicHeaders(headers: Headers, target: Target, model: string): { [name: string]: string } {
  const shown: { [name: string]: string } = forwardable(headers)
  for (const name in shown) if (!HARMLESS_VALUE.test(shown[name]!)) shown[name] = scrubber(target, model)(shown[name]!)
  return shown
}

/** Matches counts, times and words of a few letters, which need no scrubbing. */
const HARMLESS_VALUE = /^[\d\s.,:;+-]*(?:[a-z]{1,5}[\d\s.,:;+-]*){0,4}$/i

/** Removes credentials, but not addresses, from a string for the log. */
export function withoutCredentials(text: string, owner: SecretOwner): string {
  const credentialPattern = credentialsOf(owner)
  return withoutKeys(credentialPattern === undefined ? text : text.replace(credentialPattern, '[key]'))
}

/**
 * Describes the cause of a failure for the log: name, message, code and stack only. Library errors often contain the
 * input that they failed on, in which the upstream may have echoed a secret.
 */
export function loggable(cause: unknown, owner: SecretOwner): object | undefined {
  if (!(cause instanceof Error)) return undefined
  const { name, message, stack, code } = cause as Error & { readonly code?: unknown }
  const words = cause instanceof AggregateError ? cause.errors.map(String).join('; ') : message
  return {
    type: name,
    message: withoutCredentials(words, owner),
    ...(typeof code === 'string' ? { code } : {}),
    stack: withoutCredentials(stack ?? '', owner),
    ...(cause.cause instanceof Error ? { cause: loggable(cause.cause, owner) } : {}),
  }
}

/* Secret patterns, compiled once per channel and format, because the headers of every answer are scrubbed. */
const secretPatterns = new WeakMap<SecretOwner['format'], RegExp | undefined>()
const credentialPatterns = new WeakMap<SecretOwner['format'], RegExp | undefined>()

const secretsOf = (owner: SecretOwner): RegExp | undefined =>
  secretPatterns.getOrInsertComputed(owner.format, ({ baseUrl }) => {
    const patterns = URL.canParse(baseUrl) ? hostPatterns(new URL(baseUrl)) : []
    return patternOfSecrets([...credentialVariants(owner), baseUrl], keysOf(owner), patterns)
  })

/**
 * Returns patterns for an upstream's host. A host without a dot, such as a container's, may be an ordinary word
 * (`chat`, `api`). It matches only with its port, or where a host must follow.
 */
function hostPatterns({ origin, host, hostname }: URL): readonly string[] {
  const name = RegExp.escape(hostname)
  if (/[.:]/.test(hostname)) return [origin, host, hostname].map(RegExp.escape)
  const port = host === hostname ? ':\\d{1,5}' : RegExp.escape(host.slice(hostname.length))
  return [RegExp.escape(origin), `(?<![\\w.-])${name}${port}(?!\\d)`, `(?<=${BEFORE_HOST})${name}(?![\\w-])`]
}

/** Text before a host: the start of a URL, a quote, or a word that resolvers and sockets use. */
const BEFORE_HOST = '//|@|["\'`]|\\b(?:lookup|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|tcp|host|hostname)[ :=]{1,2}'

const credentialsOf = (owner: SecretOwner): RegExp | undefined =>
  credentialPatterns.getOrInsertComputed(owner.format, () => patternOfSecrets(credentialVariants(owner), keysOf(owner)))

/**
 * Returns every possible credential that the gateway sends to an upstream, in each encoding in which the upstream may
 * return it.
 */
function credentialVariants(owner: SecretOwner): string[] {
  const { baseUrl, headers, query } = owner.format
  const { username = '', password = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {}
  const fixed = [...Object.values(headers), ...Object.values(query), password].filter(isSecret)
  return [...keysOf(owner), ...fixed].flatMap(secret => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...(isSecret(secret) ? [secret, `${username}:${secret}`].map(text => inBase64(text, 'base64')) : []),
  ])
}

/** Returns the channel's key, and both parts of a key pair. Tokens signed with it are recognised by their form. */
function keysOf({ channel: { key = '', auth }, format }: SecretOwner): readonly string[] {
  if (auth !== undefined) return authSecretsOf(auth)
  const pair = format.auth === 'jwt' ? keyPairOf(key) : undefined
  return pair === undefined ? [key] : [key, pair.access, pair.secret]
}

/** Returns true if a string is long enough to be a secret. Short words are sent with every request. */
const isSecret = (text: string): boolean => text.length >= 8

/**
 * Compiles texts, patterns and keys into one pattern. Longer texts come first, because one address may be the start of
 * another. A short key matches only as a whole word. The first characters of a long key also match, in case the key is
 * masked or cut off.
 */
function patternOfSecrets(
  texts: readonly string[],
  keys: readonly string[],
  patterns: readonly string[] = [],
): RegExp | undefined {
  const known = [...new Set(texts)].filter(({ length }) => length > 3).sort((a, b) => b.length - a.length)
  const prefixes = keys
    .filter(({ length }) => length >= MIN_LONG_KEY)
    .map(key => `${RegExp.escape(key.slice(0, PREFIX_LENGTH))}[\\w*.…-]*`)
  const whole = known.map(text =>
    isSecret(text) ? RegExp.escape(text) : `(?<![\\w-])${RegExp.escape(text)}(?![\\w-])`,
  )
  const all = [...whole, ...patterns, ...prefixes]
  return all.length === 0 ? undefined : new RegExp(all.join('|'), 'gi')
}

/** Minimum length of a long key, in characters. */
const MIN_LONG_KEY = 20
/** Number of first characters by which a long key is recognised. */
const PREFIX_LENGTH = 12

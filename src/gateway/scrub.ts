import type { Json } from '../canonical/node.ts'
import { secretsOf as authSecretsOf } from '../config/auth.ts'
import { forwardable, type Headers, keyPairOf } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { withoutAccounts, withoutAddresses, withoutKeys } from './secrets.ts'

/** Removes from a string everything that its reader must not see. */
export type Scrub = (text: string) => string
/** Channel and format whose secrets are removed. */
type SecretOwner = Pick<Target, 'channel' | 'format'>

/** Replacement for text that would reveal the upstream or the gateway's credentials there. */
const UPSTREAM = '[upstream]'

/**
 * Builds a function that removes from an upstream's messages the channel's addresses and credentials, everything that
 * looks like a credential, and names that the caller does not know. A channel or model may be named like a word or a
 * field (`messages`), so that a name is replaced only in quotes (trap 114). A model's name is also replaced without
 * quotes if no word could be spelled like it.
 */
export function scrubber(target: Target, model: string): Scrub {
  const { channel, upstreamModel } = target
  const secretPattern = secretsOf(target)
  const names: (readonly [RegExp, string])[] = []
  if (channel.name !== model) names.push([quoted(channel.name), UPSTREAM])
  if (upstreamModel !== model)
    names.push([WORD.test(upstreamModel) ? quoted(upstreamModel) : whole(upstreamModel), model])
  return text => {
    const safe = withoutAddresses(
      withoutAccounts(withoutKeys(secretPattern === undefined ? text : text.replace(secretPattern, UPSTREAM))),
    )
    return names.reduce((text, [name, other]) => text.replace(name, () => other), safe)
  }
}

/** Matches a string that could be an ordinary word, a field or a path of fields. */
const WORD = /^[\p{L}_.]*$/u

const whole = (name: string): RegExp => new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`, 'g')

/** Matches a name in quotes, including one at the end of a path (`'models/pro'`). */
const quoted = (name: string): RegExp =>
  new RegExp(`(?<=["'\`‘’“”„«»](?:[\\w.-]{1,40}/){0,5})${RegExp.escape(name)}(?=\\\\?["'\`‘’“”«»])`, 'g')

/** Scrubs every string in a JSON value, including names of fields. */
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

/** Fields whose whole value is a name. JSON quotes their values, so that they are scrubbed like names in quotes. */
const NAMING = /^(?:model|deployment|engine|channel|provider|upstream|server)(?:[_-]?(?:name|id))?$/i

/**
 * Returns the headers of an upstream that a caller of the same format may see (trap 78), with their values scrubbed.
 */
export function publicHeaders(headers: Headers, target: Target, model: string): { [name: string]: string } {
  const seen: { [name: string]: string } = forwardable(headers)
  for (const name in seen) if (!HARMLESS.test(seen[name]!)) seen[name] = scrubber(target, model)(seen[name]!)
  return seen
}

/** Matches counts, times and words of a few letters, which need no scrubbing. */
const HARMLESS = /^[\d\s.,:;+-]*(?:[a-z]{1,5}[\d\s.,:;+-]*){0,4}$/i

/** Removes credentials from a string for the log. Addresses stay. */
export function withoutCredentials(text: string, owner: SecretOwner): string {
  const credentialPattern = credentialsOf(owner)
  return withoutKeys(credentialPattern === undefined ? text : text.replace(credentialPattern, '[key]'))
}

/**
 * Describes the cause of a failure for the log: name, message, code and stack only. Errors of libraries often contain
 * the input that they failed on, which may repeat an echo of the upstream.
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

/* Patterns of secrets, compiled once per channel and format, because the headers of every answer are scrubbed. */
const secrets = new WeakMap<SecretOwner['format'], RegExp | undefined>()
const credentials = new WeakMap<SecretOwner['format'], RegExp | undefined>()

const secretsOf = (owner: SecretOwner): RegExp | undefined =>
  secrets.getOrInsertComputed(owner.format, ({ baseUrl }) => {
    const patterns = URL.canParse(baseUrl) ? hostPatterns(new URL(baseUrl)) : []
    return anyOf([...sentSecrets(owner), baseUrl], keysOf(owner), patterns)
  })

/**
 * Patterns for an upstream's host. A host without a dot, as containers have, may be an ordinary word (`chat`, `api`).
 * It matches only with its port, or in a position that needs a host.
 */
function hostPatterns({ origin, host, hostname }: URL): readonly string[] {
  const name = RegExp.escape(hostname)
  if (/[.:]/.test(hostname)) return [origin, host, hostname].map(RegExp.escape)
  const port = host === hostname ? ':\\d{1,5}' : RegExp.escape(host.slice(hostname.length))
  return [RegExp.escape(origin), `(?<![\\w.-])${name}${port}(?!\\d)`, `(?<=${BEFORE_HOST})${name}(?![\\w-])`]
}

/** Text before a host: of a URL, a quote, or the words of resolvers and sockets. */
const BEFORE_HOST = '//|@|["\'`]|\\b(?:lookup|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|tcp|host|hostname)[ :=]{1,2}'

const credentialsOf = (owner: SecretOwner): RegExp | undefined =>
  credentials.getOrInsertComputed(owner.format, () => anyOf(sentSecrets(owner), keysOf(owner)))

/**
 * Returns every possible credential that the gateway sends to an upstream, in each encoding in which it may be
 * returned.
 */
function sentSecrets(owner: SecretOwner): string[] {
  const { baseUrl, headers, query } = owner.format
  const { username = '', password = '' } = URL.canParse(baseUrl) ? new URL(baseUrl) : {}
  const fixed = [...Object.values(headers), ...Object.values(query), password].filter(isSecret)
  return [...keysOf(owner), ...fixed].flatMap(secret => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...(isSecret(secret) ? [secret, `${username}:${secret}`].map(inBase64) : []),
  ])
}

/** The channel's key, and both parts of a key pair. Tokens signed with it are recognised by their form. */
function keysOf({ channel: { key = '', auth }, format }: SecretOwner): readonly string[] {
  if (auth !== undefined) return authSecretsOf(auth)
  const pair = format.auth === 'jwt' ? keyPairOf(key) : undefined
  return pair === undefined ? [key] : [key, pair.access, pair.secret]
}

/** Whether a string is long enough to be a secret. Short words are sent with every request. */
const isSecret = (text: string): boolean => text.length >= 8

const inBase64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '')

/**
 * Compiles one pattern from texts, patterns and keys. Longer texts come first, because an address may begin with
 * another. A short key matches only as a whole word. A long key also matches by its first characters, if it is masked
 * or cut off.
 */
function anyOf(
  texts: readonly string[],
  keys: readonly string[],
  patterns: readonly string[] = [],
): RegExp | undefined {
  const known = [...new Set(texts)].filter(({ length }) => length > 3).sort((a, b) => b.length - a.length)
  const prefixes = keys
    .filter(({ length }) => length >= LONG)
    .map(key => `${RegExp.escape(key.slice(0, BEGINNING))}[\\w*.…-]*`)
  const whole = known.map(text =>
    isSecret(text) ? RegExp.escape(text) : `(?<![\\w-])${RegExp.escape(text)}(?![\\w-])`,
  )
  const all = [...whole, ...patterns, ...prefixes]
  return all.length === 0 ? undefined : new RegExp(all.join('|'), 'gi')
}

const LONG = 20
const BEGINNING = 12

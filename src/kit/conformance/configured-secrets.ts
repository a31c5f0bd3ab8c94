import type { Peer } from './peer.ts'

/* Secrets in the configuration of a peer. They must not appear in any report. */

/** Names of fields, variables, headers and options that hold credentials. */
const SECRET_NAME = String.raw`[\w.-]*(?:key|token|secret|passw(?:or)?d|credential|auth(?:orization)?|cookie)`

/** A name and its value in YAML, JSON, TOML, a header or a command-line option. Quotes may be escaped. */
const NAMED_VALUE = new RegExp(
  String.raw`\b${SECRET_NAME}\\?["']?\s*(?:[:=]|\s)\s*(?:Bearer\s+|Basic\s+)?\\?["']?([^\s"',;}\\]+)`,
  'gi',
)

/** A user and a password in a URL. */
const URL_PASSWORD = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:([^\s/@]+)@/gi

/** Minimum length of a secret, in characters. Shorter values are words such as `none`. */
const MIN_SECRET_LENGTH = 8

/** Values that are not credentials: placeholders, addresses, paths and numbers. */
const NOT_SECRET = /\$\{|^[a-z]+:\/\/|^[./]|^\d+$/i

/** Returns the secrets in a configuration text whose placeholders are not filled in yet. */
export function secretsIn(text: string): string[] {
  const found = [NAMED_VALUE, URL_PASSWORD].flatMap(pattern => [...text.matchAll(pattern)].map(([, value]) => value!))
  return [...new Set(found)].filter(value => value.length >= MIN_SECRET_LENGTH && !NOT_SECRET.test(value))
}

const lines = (values: { readonly [name: string]: string }): string[] =>
  Object.entries(values).map(([name, value]) => `${name}: ${value}`)

/** Returns the secrets in a peer's command, environment, headers and files. */
export const secretsOf = ({ start, env, headers, lossEvent }: Peer, files: readonly string[]): string[] => {
  const sent = [...Object.values(headers), lossEvent?.headers ?? {}].flatMap(lines)
  return [...new Set([start.join(' '), ...lines(env), ...sent, ...files].flatMap(secretsIn))]
}

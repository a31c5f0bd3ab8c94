import type { IncomingHttpHeaders } from 'node:http'
import { HARMLESS_HEADERS, isHarmlessParameter } from '../public-headers.ts'
import { isCredential, SECRET_NAME } from '../secret-names.ts'
import type { Redaction } from './redaction.ts'

/** Headers that belong to one connection, and headers that state the encoding or the size of a body on the wire. */
const CONNECTION_HEADERS =
  /^(accept-encoding|connection|content-(encoding|length)|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|sec-websocket-(?!protocol).+)$/

export interface Texts {
  readonly [name: string]: string
}

/**
 * Returns headers without those of a connection, which a file may state although they are never recorded. A wrong length
 * would make a part of a body the next answer, and another host would get the key of an upstream.
 */
export const withoutConnection = (headers: Texts): Texts =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.test(name.toLowerCase())))

/**
 * Returns the headers to record, which are only known harmless ones. Credentials, cookies, accounts and unknown headers
 * are never recorded.
 */
export const recordedHeaders = (headers: IncomingHttpHeaders, redaction: Redaction): Texts =>
  harmlessTexts(
    Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.test(name) && !CONNECTION_HEADERS.test(name)),
    redaction,
  )

/** Returns the query parameters to record, which are only known harmless ones. */
export const recordedQuery = (query: URLSearchParams, redaction: Redaction): Texts =>
  harmlessTexts(
    [...query].filter(([name]) => isHarmlessParameter(name)),
    redaction,
  )

const harmlessTexts = (
  pairs: readonly (readonly [string, string | readonly string[] | undefined])[],
  redaction: Redaction,
): Texts =>
  Object.fromEntries(
    pairs.flatMap(([name, value]) =>
      value === undefined ? [] : [[redaction.text(name), redaction.text(String(value))]],
    ),
  )

/** Returns the credentials and accounts in the head of a message, which bodies may repeat. */
export function credentialsIn(headers: IncomingHttpHeaders, query: URLSearchParams): readonly string[] {
  const secretValues = [
    ...Object.entries(headers).filter(([name]) => !HARMLESS_HEADERS.test(name)),
    ...[...query].filter(([name]) => !isHarmlessParameter(name)),
  ]
  const values = secretValues.flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value ?? ''].flat() : []))
  const parts = [...values, ...subprotocolKeys(headers['sec-websocket-protocol'])].flatMap(value => [
    value,
    ...value.split(/[\s,;]+/),
    ...pairsIn(value),
  ])
  return parts.filter(isCredential)
}

/** Returns the credentials among WebSocket subprotocols: `openai-insecure-api-key.KEY`, `token, KEY`. */
const subprotocolKeys = (protocols = ''): readonly string[] =>
  [...protocols.matchAll(/(?:key|token|secret|auth|bearer)[^.,\s]*(?:\.|\s*,\s*)([^,\s]+)/gi)].map(([, key]) => key!)

/** Returns the values of cookies, and the login and password of basic authentication. */
function pairsIn(value: string): readonly string[] {
  const basic = /^basic\s+(\S+)/i.exec(value)?.[1]
  const login = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('utf8')
  const cookies = value.split(/;\s*/).map(pair => pair.slice(pair.indexOf('=') + 1))
  return [...cookies, login, login.slice(login.indexOf(':') + 1)]
}

import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import { excerpt } from '../../canonical/text.ts'
import type { ProxyConfig } from '../../config/types.ts'
import { Agents } from '../channel/fetch.ts'
import { headerValue, withSingleValues } from '../channel/headers.ts'
import { clockAdvice } from '../clock.ts'
import { accountError, type Token, TRANSIENT_STATUS, transientAccountError } from './access-token.ts'

/** Maximum time for a token server to answer, in milliseconds. */
const TIMEOUT = 10_000
/** Maximum size of a token server's answer, in bytes. */
const MAX_ANSWER = 65_536
/** Maximum length of the reason in an error message, in characters. */
const MAX_REASON = 300
/** Lifetime of a token if the server does not state it, in seconds. */
const DEFAULT_LIFETIME = 3600

/** A request to a token server. */
export interface TokenRequest {
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
  /** Fields of the form to post. If absent, the request is a GET. */
  readonly form?: { readonly [name: string]: string }
  /** Proxy for the request. Metadata servers are reached without a proxy. */
  readonly proxy?: ProxyConfig | undefined
  /** Name of the server in error messages, such as `Google's token server`. */
  readonly server: string
}

/**
 * Requests an OAuth token (RFC 6749 §5.1). The answer has the `access_token` and its lifetime, either as `expires_in`
 * seconds or, from some metadata servers, as the time `expires_on`.
 *
 * @throws GatewayError `upstream-account` with the server and its reason, but never the request.
 */
export async function requestToken(request: TokenRequest): Promise<Token> {
  const from = Math.floor(Date.now() / 1000)
  const answer = await sendRequest(request)
  const { access_token: text } = answer
  if (typeof text !== 'string' || !TOKEN.test(text)) throw accountError(`${request.server} answered without a token.`)
  const seconds = lifetimeIn(answer, from)
  if (!(seconds > 0)) throw accountError(`${request.server} answered with an expired token.`)
  // The start is 0, so that a difference between the clocks cannot delay the use of a token.
  return { text, from: 0, until: from + seconds }
}

/**
 * Returns the lifetime of a token in seconds. The end is a Unix time, as a number or text, or a date (Azure Machine
 * Learning, which microsoft-authentication-library-for-js reads as well).
 */
function lifetimeIn({ expires_in: lifetime, expires_on: end }: JsonObject, from: number): number {
  if (isPresent(lifetime)) return Number(lifetime)
  if (!isPresent(end)) return DEFAULT_LIFETIME
  const time = Number(end)
  return (Number.isNaN(time) ? Date.parse(String(end)) / 1000 : time) - from
}

const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

/** Matches tokens whose characters are allowed in headers. */
const TOKEN = /^[\x21-\x7e]+$/

async function sendRequest({ url, headers, form, proxy, server }: TokenRequest): Promise<JsonObject> {
  const agents = new Agents({ headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT, connect: { timeout: TIMEOUT } }, proxy)
  try {
    const { origin, pathname, search } = new URL(url)
    const {
      statusCode,
      headers: answerHeaders,
      body,
    } = await agents.to(origin).request({
      ...{ origin, path: `${pathname}${search}`, signal: AbortSignal.timeout(TIMEOUT) },
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body: form === undefined ? null : new URLSearchParams(form).toString(),
    })
    const text = await readLimited(body)
    if (statusCode !== 200) {
      const reason = form === undefined ? metadataReasonIn(text) : reasonIn(text)
      const advice = clockAdvice(headerValue(answerHeaders['date']), Date.now())
      const message = `${server} answered ${statusCode}${sentence(reason)}.${advice === undefined ? '' : ` ${advice}`}`
      throw TRANSIENT_STATUS.test(String(statusCode))
        ? transientAccountError(message, undefined, retryAfter(withSingleValues(answerHeaders)))
        : accountError(message)
    }
    return objectIn(text)
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : transientAccountError(failureOf(server, thrown as Error), thrown)
  } finally {
    void agents.destroy()
  }
}

async function readLimited(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ANSWER) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the reason in an error answer (RFC 6749 §5.2), which does not repeat credentials. */
function reasonIn(text: string): string {
  const { error, error_description: description } = objectIn(text)
  return [error, description].filter(part => typeof part === 'string' && part !== '').join(': ')
}

/**
 * Returns the reason in an error answer of a metadata server. Some have no OAuth error: App Service states a message,
 * and Google's servers answer with plain text. The request to them contains no key that they could repeat.
 */
function metadataReasonIn(text: string): string {
  const answer = objectIn(text)
  const { message, Message } = isObject(answer['error']) ? answer['error'] : answer
  const stated = [reasonIn(text), message, Message].find(part => typeof part === 'string' && part !== '') as
    | string
    | undefined
  return stated ?? (/^\s*[<{[]/.test(text) ? '' : text.trim())
}

/** Returns a reason as the end of a sentence. */
const sentence = (reason: string): string =>
  reason === '' ? '' : `: ${excerpt(reason, MAX_REASON).replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '')}`

const objectIn = (text: string): JsonObject => parseObject(text) ?? {}

const failureOf = (server: string, { name, message }: Error): string =>
  name === 'TimeoutError' ? `${server} did not answer in time.` : `The request to ${server} failed: ${message}.`

import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request as plain } from 'node:http'
import { request as encrypted } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { dataOf, jsonOf } from '../builders/http.ts'

export interface Question {
  /** HTTP method. `POST` if there is a body, else `GET`. */
  readonly method?: string
  readonly headers?: { readonly [name: string]: string }
  /** Body as JSON or a form. */
  readonly body?: object | FormData
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: cases look into answers of many shapes
  readonly json: any
}

/**
 * Sends a request to one address. Rejects for an answer that is not 2xx, unless the question expects another status.
 */
export type Ask = (path: string, question?: Question, status?: number) => Promise<Answer>

/**
 * @param key the key, in the header of each kind of caller.
 * @param ca a certificate to trust, in PEM.
 */
export const askingAt =
  (address: string, key: string, ca?: string): Ask =>
  async (path, { method, headers = {}, body } = {}, status) => {
    const { bytes, type } = await encoded(body)
    const answer = await sent(`${address}${path}`, ca, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...credentials(path, key), 'content-length': String(bytes.length), ...type, ...headers },
      bytes,
    })
    const isExpected = status === undefined ? answer.status >= 200 && answer.status < 300 : answer.status === status
    assert.ok(isExpected, `${path} answered ${answer.status}: ${answer.text.slice(0, 500)}`)
    return answer
  }

function credentials(path: string, key: string): { readonly [name: string]: string } {
  if (/^\/v1\/messages/.test(path)) return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  if (/^\/v1(?:beta)?\/models\/[^/]*:/.test(path)) return { 'x-goog-api-key': key }
  return key === '' ? {} : { authorization: `Bearer ${key}` }
}

async function encoded(body: object | FormData | undefined) {
  if (body === undefined) return { bytes: Buffer.alloc(0), type: {} }
  if (!(body instanceof FormData))
    return { bytes: Buffer.from(JSON.stringify(body)), type: { 'content-type': 'application/json' } }
  const form = new Response(body)
  return {
    bytes: Buffer.from(await form.arrayBuffer()),
    type: { 'content-type': form.headers.get('content-type')! },
  }
}

interface Sent {
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  readonly bytes: Buffer
}

/** Timeout of an answer, in milliseconds. */
const PATIENCE = 60_000

function sent(url: string, ca: string | undefined, { method, headers, bytes }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: false, signal: AbortSignal.timeout(PATIENCE) } as const
    const out = url.startsWith('https:') ? encrypted(url, { ...options, ca }) : plain(url, options)
    out.on('error', reject).on('response', message => {
      buffer(message).then(all => {
        const text = all.toString()
        resolve({ status: message.statusCode!, headers: message.headers, bytes: all, text, json: jsonOf(text) })
      }, reject)
    })
    out.end(bytes)
  })
}

/** Returns the events of a streamed answer, as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: cases look into events of many shapes
export function eventsOf({ headers, text }: Answer): any[] {
  assert.match(String(headers['content-type']), /^text\/event-stream/)
  return dataOf(text)
    .filter(data => data !== '[DONE]')
    .map(data => JSON.parse(data))
}

import type { IncomingMessage } from 'node:http'
import type { Seen } from './upstream.ts'

/** Returns the text of an answer, or the part of it that arrived before the connection broke. */
export function textOf(answer: IncomingMessage): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', chunk => (text += chunk))
    answer.on('close', () => resolve(text))
    answer.on('error', () => {})
  })
}

/** Returns a text parsed as JSON. Undefined if it is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The data of each server-sent event in a text. */
export const dataOf = (text: string): string[] =>
  text.split('\n').flatMap(line => (line.startsWith('data: ') ? [line.slice(6)] : []))

export const GET = { method: 'GET' }

/** Headers and options of a messages request. */
export const VERSION = { 'anthropic-version': '2023-06-01' }
export const VERSION_HEADERS = { headers: VERSION }

/** The fields of a form that an upstream received. */
export const formOf = ({ headers, text }: Seen): Promise<FormData> =>
  new Response(text, { headers: { 'content-type': headers['content-type']! } }).formData()

import { parseObject } from '../../src/canonical/node.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { READERS } from '../../src/ingress/index.ts'
import type { Tap } from './tap.ts'

/** A conversation request as a client sent it. */
export interface CallerRequest {
  readonly format: string
  readonly request: CanonicalRequest
}

/** Paths of conversation requests, by format. */
const PATHS: { readonly [format: string]: RegExp } = {
  chat: /\/chat\/completions$/,
  responses: /\/responses$/,
  messages: /\/messages$/,
  contents: /:(?:stream)?[gG]enerateContent$/,
}

/** Reads the conversation requests that a client sent to the gateway by HTTP. Those of sockets are not read. */
export function* requestsOf({ said }: Tap): Generator<CallerRequest> {
  for (const lines of said) {
    const bytes = Buffer.concat(lines.filter(({ who }) => who === 'client').map(one => one.bytes))
    for (const { path, headers, text } of messagesIn(bytes)) {
      const format = Object.keys(PATHS).find(one => PATHS[one]!.test(path))
      const body = parseObject(text)
      if (format === undefined || body === undefined) continue
      yield { format, request: READERS[format]!.request!({ path, query: {}, headers, body }) }
    }
  }
}

interface HttpRequest {
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

/** Splits the bytes of one connection of HTTP/1.1 into requests. */
function* messagesIn(bytes: Buffer): Generator<HttpRequest> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end < 0) return
    const [first = '', ...rows] = bytes.toString('latin1', at, end).split('\r\n')
    const headers = Object.fromEntries(
      rows.map(row => [row.split(':', 1)[0]!.toLowerCase(), row.replace(/^[^:]*: */, '')]),
    )
    const start = end + 4
    const [text, next] =
      headers['transfer-encoding'] === 'chunked'
        ? chunksAt(bytes, start)
        : sliceAt(bytes, start, Number(headers['content-length'] ?? 0))
    yield { path: first.split(' ')[1]!.split('?')[0]!, headers, text }
    at = next
  }
}

const sliceAt = (bytes: Buffer, start: number, size: number): [text: string, next: number] => [
  bytes.toString('utf8', start, start + size),
  start + size,
]

function chunksAt(bytes: Buffer, start: number): [text: string, next: number] {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    const size = line < 0 ? 0 : Number.parseInt(bytes.toString('latin1', at, line), 16)
    if (!(size > 0)) return [Buffer.concat(chunks).toString(), line < 0 ? bytes.length : line + 4]
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

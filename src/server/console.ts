import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONSOLE_FILES } from '../root.ts'
import { accepts } from './accepts.ts'
import { CONSOLE_PATH } from './address.ts'
import { type Coding, type ConsoleFile, INDEX, readConsole } from './console-files.ts'

/** Content security policy: the page loads and contacts only the gateway, submits no forms, and cannot be framed. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const YEAR_SECONDS = 31_536_000

/** Serves the files of the web console, which are loaded on the first request. */
export class ConsoleFiles {
  private readonly folder: string
  private files: ReadonlyMap<string, ConsoleFile> | undefined

  constructor(folder = CONSOLE_FILES) {
    this.folder = folder
  }

  /** Answers any request at or below the console's path. */
  answer(message: IncomingMessage, response: ServerResponse, path: string): void {
    response.on('error', () => {})
    message.resume()
    const { method } = message
    if (method !== 'GET' && method !== 'HEAD')
      return sendText(response, 405, 'Method not allowed.', { allow: 'GET, HEAD' })
    if (path === CONSOLE_PATH) return sendText(response, 308, '', { location: `${CONSOLE_PATH}/` })
    if (!path.startsWith(CONSOLE_PATH)) return sendText(response, 404, 'Not found.')
    this.files ??= readConsole(this.folder)
    if (this.files === undefined) return sendText(response, 503, NOT_BUILT_TEXT)
    const name = path.slice(CONSOLE_PATH.length + 1)
    const file = this.files.get(name === '' ? INDEX : name) ?? (isPage(name) ? this.files.get(INDEX) : undefined)
    if (file === undefined) sendText(response, 404, 'Not found.')
    else sendFile(message, response, file)
  }
}

const NOT_BUILT_TEXT =
  'The console has not been built. In the Interlingua folder, run:\n\n  npm ci --include=dev\n  npm run console:build\n'

/** Returns true if a path is a page of the app: pages have no file extension. */
const isPage = (name: string): boolean =>
  !name.slice(name.lastIndexOf('/') + 1).includes('.') && !name.startsWith('assets/')

function sendFile(message: IncomingMessage, response: ServerResponse, file: ConsoleFile): void {
  const coding = codingOf(message, file)
  const bytes = file.codings[coding]!
  const etag = `"${file.etag}-${coding}"`
  const headers = {
    ...SECURITY_HEADERS,
    'cache-control': cacheControlOf(file),
    vary: 'accept-encoding',
    etag,
  }
  if (namesTag(etag, message.headers['if-none-match'])) {
    response.writeHead(304, headers).end()
    return
  }
  response.writeHead(200, {
    ...headers,
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    'content-type': file.type,
    'content-length': bytes.length,
  })
  response.end(message.method === 'HEAD' ? undefined : bytes)
}

const cacheControlOf = ({ isHashed: isLasting, type }: ConsoleFile): string =>
  isLasting ? `public, max-age=${YEAR_SECONDS}, immutable` : type.startsWith('text/html') ? 'no-store' : 'no-cache'

const CODINGS: readonly Coding[] = ['br', 'gzip']

/** Picks the best encoding that the client accepts and the file has (RFC 9110, section 12.5.3). */
function codingOf({ headers }: IncomingMessage, { codings }: ConsoleFile): Coding {
  const acceptEncoding = String(headers['accept-encoding'] ?? '')
  return CODINGS.find(coding => codings[coding] !== undefined && accepts(acceptEncoding, coding)) ?? 'identity'
}

const namesTag = (etag: string, ifNoneMatch = ''): boolean =>
  ifNoneMatch.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}

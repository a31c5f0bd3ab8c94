import { createHash } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { KEY } from '../builders/config.ts'
import { jsonOf, textOf } from '../builders/http.ts'

/**
 * One part of a form: a field, or a file whose bytes are generated while they are sent. A `mediaType` of null leaves the
 * content type out.
 */
export type Piece =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly file: string; readonly size: number; readonly mediaType?: string | null }

const BOUNDARY = 'a-boundary-of-the-tests'
const BLOCK = Buffer.alloc(64 * 1024, 'so it was said ')

/** Yields the bytes of a form, generated on demand. */
export function* formBytes(pieces: readonly Piece[], { closed = true } = {}): Generator<Buffer> {
  for (const piece of pieces) {
    if ('value' in piece) {
      yield Buffer.from(
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${piece.name}"\r\n\r\n${piece.value}\r\n`,
      )
      continue
    }
    const { name, file, size, mediaType = 'audio/mpeg' } = piece
    const type = mediaType === null ? '' : `content-type: ${mediaType}\r\n`
    yield Buffer.from(
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${file}"\r\n${type}\r\n`,
    )
    for (let left = size; left > 0; left -= BLOCK.length) yield left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK
    yield Buffer.from('\r\n')
  }
  if (closed) yield Buffer.from(`--${BOUNDARY}--\r\n`)
}

/** Returns the hash of a file of that size. */
export function hashOf(size: number): string {
  const hash = createHash('sha1')
  for (let left = size; left > 0; left -= BLOCK.length)
    hash.update(left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK)
  return hash.digest('hex')
}

export interface Uploaded {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any
}

interface UploadOptions {
  readonly headers?: { readonly [name: string]: string }
  /** Called between blocks. The next block is sent when it is done. */
  readonly between?: (sent: number, out: ClientRequest) => Promise<void> | undefined
  readonly closed?: boolean
}

/** Sends a form as fast as it is accepted, and reads the answer, which may arrive before everything is sent. */
export async function upload(
  address: string,
  path: string,
  pieces: readonly Piece[],
  { headers = {}, between, closed = true }: UploadOptions = {},
): Promise<Uploaded> {
  const out = request(`${address}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      ...headers,
    },
  })
  let answered = false
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    out.on('response', response => {
      answered = true
      resolve(response)
    })
    out.on('error', reject)
  })
  answer.catch(() => {})
  let sent = 0
  for (const bytes of formBytes(pieces, { closed })) {
    if (answered || out.destroyed) break
    sent += bytes.length
    if (!out.write(bytes)) await new Promise<void>(resolve => settled(out, resolve))
    await between?.(sent, out)
  }
  if (!out.destroyed) out.end()
  const response = await answer
  const text = await textOf(response)
  return { status: response.statusCode!, headers: response.headers, text, json: jsonOf(text) }
}

function settled(out: ClientRequest, done: () => void): void {
  const events = ['drain', 'response', 'error', 'close']
  const once = (): void => {
    for (const event of events) out.off(event, once)
    done()
  }
  for (const event of events) out.on(event, once)
}

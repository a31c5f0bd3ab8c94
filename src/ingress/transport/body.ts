import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { GatewayError, invalid, tooLarge } from '../../canonical/error.ts'
import { parseExactly } from '../../canonical/exact-numbers.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { withoutByteOrderMark } from '../../canonical/text.ts'

/** Time within which a JSON body must be complete, in milliseconds. */
const BODY_TIMEOUT = 300_000

/** Decompressors by content encoding. */
const INFLATERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** Counts the bytes buffered for an incomplete body. An error thrown by `take` aborts reading. */
export interface Meter {
  take(bytes: number): void
  give(bytes: number): void
  close(): void
}

/**
 * Reads a request's body as a JSON object.
 *
 * @param limit maximum size of the body in bytes, both compressed and decompressed. The rest of a larger body is not
 * read.
 * @param open opens a meter. Called only for a body that is compressed or did not arrive together with its head.
 * @param weigh called with the whole body before it is parsed. May throw to refuse it.
 * @throws GatewayError `too-large`; `invalid-request` for another encoding, charset or shape; `cancelled` if the caller
 * disconnects before the end; or an error of the meter.
 */
export async function readJson(
  message: IncomingMessage,
  limit: number,
  open?: () => Meter,
  weigh?: (body: Buffer) => void,
): Promise<JsonObject> {
  const charset = charsetOf(message.headers['content-type'])
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii')
    throw invalid(`A JSON body must be UTF-8 text; ${charset} is not supported.`)
  if (Number(message.headers['content-length']) > limit) throw overLimit(limit)
  const body = await collect(message, inflaterOf(message), limit, open)
  weigh?.(body)
  return parseBody(body)
}

const charsetOf = (type: string | undefined): string | undefined =>
  type === undefined || type === 'application/json' ? undefined : /charset="?([^";\s]+)/i.exec(type)?.[1]?.toLowerCase()

function inflaterOf(message: IncomingMessage): Transform | undefined {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return undefined
  if (!Object.hasOwn(INFLATERS, encoding))
    throw invalid(`The content encoding must be one of ${Object.keys(INFLATERS).join(', ')}.`)
  return INFLATERS[encoding]!()
}

/** Uses event listeners, because `for await` takes three times as long for small bodies. */
function collect(
  message: IncomingMessage,
  inflater: Transform | undefined,
  limit: number,
  open: (() => Meter) | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const source = inflater === undefined ? message : message.pipe(inflater)
    const declaredLength = Number(message.headers['content-length'])
    let timer: NodeJS.Timeout | undefined
    let meter: Meter | undefined
    let settled = false

    const onTimeout = (): void => fail(TOO_SLOW)
    /**
     * Starts the timer and the meter, unless the body arrived together with its head, as most do. Node ends such a body
     * in the next tick. A compressed body, however short, is long only when it is decompressed.
     */
    const wait = (): void => {
      if (settled || (inflater === undefined && (message.complete || size === declaredLength))) return
      timer = setTimeout(onTimeout, BODY_TIMEOUT)
      withFailure(() => {
        meter = open?.()
        meter?.take(size)
      })
    }
    const withFailure = (measure: () => void): void => {
      try {
        measure()
      } catch (thrown) {
        fail(thrown as GatewayError)
      }
    }
    const fail = (error: GatewayError): void => {
      settled = true
      clearTimeout(timer)
      meter?.close()
      source.off('data', take).off('end', finish)
      message.unpipe()
      message.pause()
      inflater?.destroy()
      reject(error)
    }
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size > limit) return fail(overLimit(limit))
      chunks.push(chunk)
      if (meter !== undefined) withFailure(() => meter!.take(chunk.length))
    }
    const finish = (): void => {
      clearTimeout(timer)
      meter?.close()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    }
    const onClose = (thrown?: Error): void => {
      if (!message.complete || isDisconnected(message)) fail(interruption(thrown))
    }

    // The caller may have disconnected while the limits of its key were looked up.
    if (isDisconnected(message)) return fail(interruption(message.errored))
    source.on('data', take).on('end', finish)
    process.nextTick(wait)
    message.on('close', onClose).on('error', onClose)
    inflater?.on('error', () => fail(invalid('The body cannot be decompressed.')))
  })
}

function parseBody(bytes: Buffer): JsonObject {
  if (!isUtf8(bytes)) throw invalid('The body is not UTF-8 text.')
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = parseExactly(withoutByteOrderMark(text))
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : ''
    throw invalid(`The body is not JSON: ${detail}`.slice(0, 200))
  }
  if (!isObject(value)) throw invalid('The body must be a JSON object.')
  return value
}

/**
 * Returns true if a body's connection closed before the end was read. The body can then no longer be read, even if it
 * arrived completely.
 */
export const isDisconnected = (message: IncomingMessage): boolean =>
  (message.destroyed || message.socket?.destroyed) && !message.readableEnded

/** Returns the error for a body that ended early: the server's error, or `cancelled` if the caller disconnected. */
export const interruption = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError ? thrown : new GatewayError(DISCONNECTED)

const DISCONNECTED = { kind: 'cancelled', message: 'The caller disconnected before the request was complete.' } as const

/** Error for a caller that is too slow. */
export const TOO_SLOW = new GatewayError({
  kind: 'timed-out',
  httpStatus: 408,
  message: 'The request took too long to arrive.',
})

const overLimit = (limit: number): GatewayError => tooLarge(`The body is larger than ${limit} bytes.`)

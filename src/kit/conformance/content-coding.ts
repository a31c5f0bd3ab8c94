import zlib, { constants } from 'node:zlib'

/* Content codings (RFC 9110, section 8.4.1): a request without `accept-encoding` accepts every one of them. */

type Decode = (body: Buffer, limit: number) => Buffer

/** A body that was cut off is decoded as far as it came. */
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH }

const gunzip: Decode = (body, maxOutputLength) => zlib.gunzipSync(body, { ...ZLIB, maxOutputLength })

/** Many servers send `deflate` without the head of zlib. */
const inflate: Decode = (body, maxOutputLength) => {
  const hasHead = (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
  return (hasHead ? zlib.inflateSync : zlib.inflateRawSync)(body, { ...ZLIB, maxOutputLength })
}

const DECODERS = new Map<string, Decode>([
  ['identity', body => body],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  [
    'br',
    (body, maxOutputLength) =>
      zlib.brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
  ],
  [
    'zstd',
    (body, maxOutputLength) => zlib.zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush, maxOutputLength }),
  ],
])

/** Maximum number of codings of one body. */
const MAX_CODINGS = 4

/**
 * Returns a body without its content codings, `too-large` above the limit, or undefined if a coding does not fit the
 * bytes. Clients leave a body with an unknown coding, such as `utf-8`, as it is.
 *
 * @param coding the header `content-encoding`.
 * @param limit maximum size of the decoded body, in bytes.
 */
export function decodedBody(body: Buffer, coding: string, limit: number): Buffer | 'too-large' | undefined {
  const codings = coding.toLowerCase().split(',', MAX_CODINGS + 1)
  if (codings.length > MAX_CODINGS) return undefined
  const decoders = codings.flatMap(one => (one.trim() === '' ? [] : [DECODERS.get(one.trim())]))
  if (decoders.includes(undefined)) return body
  try {
    return decoders.reduceRight((rest, decode) => (rest.length < 2 ? rest : decode!(rest, limit)), body)
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : undefined
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'

/** A file to download. */
export interface MockFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: Buffer
}

/** Answers GET and HEAD with a file, or with one requested range of it (RFC 9110 §14). */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { name, mediaType, bytes }: MockFile,
): void {
  const range = rangeOf(request.headers.range, bytes.length)
  if (range === 'none') {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end()
    return
  }
  const part = range === undefined ? bytes : bytes.subarray(range.begin, range.end)
  response.writeHead(range === undefined ? 200 : 206, {
    'content-type': mediaType,
    'content-length': part.length,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${name}.${mediaType.split('/')[1]}"`,
    ...(range === undefined ? {} : { 'content-range': `bytes ${range.begin}-${range.end - 1}/${bytes.length}` }),
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}

/** Parses the requested range, `end` exclusive; undefined for the whole file, `none` for a range outside it. */
function rangeOf(header: string | undefined, size: number): { begin: number; end: number } | 'none' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return undefined
  const begin = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return begin < end ? { begin, end } : 'none'
}

import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'

/** An encoded form, ready to send. */
export interface Multipart {
  readonly contentType: string
  /** Total size in bytes, or undefined unless the size of every file is known and no parts arrive late. */
  readonly length?: number
  read(): AsyncIterable<Uint8Array>
}

/** Returns the text fields and files that arrive while the first files are being sent. */
export type LateParts = () => Promise<Pick<WireRequest, 'body' | 'files'>>

/** Encodes the request as `multipart/form-data`: text fields, then files, then late parts. */
export function multipart({ body, files = [] }: Pick<WireRequest, 'body' | 'files'>, late?: LateParts): Multipart {
  const boundary = `interlingua-${randomUUID()}`
  const head = Buffer.from(fieldsText(body, boundary))
  const heads = files.map(file => Buffer.from(fileHead(file, boundary)))
  const tail = Buffer.from(`--${boundary}--\r\n`)
  const length = late === undefined ? sizeOf(files, [head, ...heads, tail]) : undefined

  async function* read(): AsyncGenerator<Uint8Array> {
    if (head.length > 0) yield head
    for (const [index, file] of files.entries()) yield* part(heads[index]!, file)
    if (late !== undefined) {
      const more = await late()
      yield Buffer.from(fieldsText(more.body, boundary))
      for (const file of more.files ?? []) yield* part(Buffer.from(fileHead(file, boundary)), file)
    }
    yield tail
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    ...(length === undefined ? {} : { length }),
    read,
  }
}

async function* part(head: Uint8Array, { bytes }: WireFile): AsyncGenerator<Uint8Array> {
  yield head
  yield* bytes.read()
  yield END
}

const END = Buffer.from('\r\n')

function sizeOf(files: readonly WireFile[], rest: readonly Uint8Array[]): number | undefined {
  let size = rest.reduce((sum, chunk) => sum + chunk.length, 0)
  for (const { bytes } of files) {
    if (bytes.size === undefined) return undefined
    size += bytes.size + END.length
  }
  return size
}

const fieldsText = (body: JsonObject, boundary: string): string =>
  Object.entries(body)
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map(one => [name, textOf(one as Json)] as const),
    )
    .map(([name, text]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`)
    .join('')

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

const fileHead = ({ field, name = field, mediaType }: WireFile, boundary: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(field)}"; filename="${quoted(name)}"\r\n` +
  `Content-Type: ${mediaType.replace(/[\0\r\n]/g, '')}\r\n\r\n`

/**
 * Escapes a name for a quoted header parameter in the same way as browsers: percent-encodes characters that could end
 * the name or the line, and NUL, with which servers refuse the form.
 */
const quoted = (text: string): string =>
  text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\0', '%00')

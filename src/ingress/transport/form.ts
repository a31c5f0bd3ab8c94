import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy, { type Busboy } from 'busboy'
import { BufferedBytes, type Bytes } from '../../canonical/bytes.ts'
import { GatewayError, invalid, tooLarge } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { typeOfFile } from '../media/file-type.ts'
import { interruption, isDisconnected, type Meter, TOO_SLOW } from './body.ts'
import { Spool } from './spool.ts'

/** Default maximum size of a form, in bytes: enough for hours of audio. */
export const FORM_LIMIT = 2 * 1024 ** 3
/** Maximum size of all files buffered in memory, in bytes. Buffered files can be sent again on a retry. */
const BUFFER_LIMIT = 4 * 1024 * 1024
/** busboy's limits on the parts of a form. No format's request needs more. */
const LIMITS = { fields: 200, files: 64, parts: 264, fieldSize: 8 * 1024 * 1024, headerPairs: 100 }
/** Maximum size of all text fields, in bytes. */
const TEXTS_LIMIT = 32 * 1024 * 1024
/** Maximum time without a byte of a form, in milliseconds. After that, the form is dropped. */
const IDLE_TIMEOUT_MS = 60_000

/** The part of a form that has arrived so far: text fields and files. Repeated fields are lists. */
export interface Form {
  readonly body: JsonObject
  readonly files: readonly WireFile[]
  /** The complete form, including the fields after the streamed file. Absent if everything has already arrived. */
  readonly completeForm?: Promise<Form>
  /** Drops the form: closes its files on disk and releases the connection. */
  drop(): void
}

/** Opens the meters of an incomplete form, one for memory and one for disk. */
export interface FormMeters {
  memory(): Meter
  disk(): Meter
}

/** Returns true if the fields and files so far suffice to send a request before the rest of the form arrives. */
export type Ready = (body: JsonObject, files: readonly WireFile[]) => boolean

/**
 * Reads a caller's `multipart/form-data`. Small files are buffered in memory. A large file is streamed if `ready`
 * accepts the fields before it, and the promise then resolves before the form's end. Otherwise the file is written to
 * an unlinked temporary file.
 *
 * @param limit maximum size of the form, in bytes.
 * @throws GatewayError `too-large`; `invalid-request` for a broken form; `cancelled`; or an error of a meter.
 */
export function readForm(message: IncomingMessage, limit: number, ready: Ready, meters?: FormMeters): Promise<Form> {
  if (Number(message.headers['content-length']) > limit) return Promise.reject(overLimit(limit))
  const encoding = message.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return Promise.reject(invalid('A form cannot have a content encoding.'))
  let parser: Busboy
  try {
    parser = busboy({ headers: message.headers, limits: LIMITS, defParamCharset: 'utf8' })
  } catch {
    return Promise.reject(invalid('The form has no boundary.'))
  }
  try {
    return new FormReading(message, parser, limit, ready, meters).usableForm
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

/** Parses one form. Decides for each file whether to buffer it in memory, stream it or write it to disk. */
class FormReading {
  /** Resolves as soon as a request can be created from the form. */
  readonly usableForm: Promise<Form>
  private readonly completeForm = Promise.withResolvers<Form>()
  private readonly usable = Promise.withResolvers<Form>()
  private readonly message: IncomingMessage
  private readonly parser: Busboy
  private readonly ready: Ready
  private readonly entries: [string, string][] = []
  private readonly files: (WireFile | Promise<WireFile>)[] = []
  private readonly spools: Spool[] = []
  private streamedFile: Readable | undefined
  private size = 0
  private texts = 0
  /** Size of all files buffered in memory, in bytes. */
  private bufferedBytes = 0
  private readonly silence: NodeJS.Timeout
  private readonly meters: FormMeters | undefined
  private readonly memory: Meter | undefined
  private disk: Meter | undefined
  private failed = false

  constructor(message: IncomingMessage, parser: Busboy, limit: number, ready: Ready, meters?: FormMeters) {
    this.meters = meters
    this.memory = meters?.memory()
    this.message = message
    this.parser = parser
    this.ready = ready
    this.usableForm = this.usable.promise
    this.completeForm.promise.catch(() => {})
    parser.on('field', (name: string | undefined, value, { valueTruncated }) => {
      if (name === undefined) return this.fail(NO_PART_NAME)
      this.texts += Buffer.byteLength(value)
      if (valueTruncated) this.fail(LARGE_FIELD)
      else if (this.texts > TEXTS_LIMIT) this.fail(LARGE_TEXTS)
      else {
        this.entries.push([name, value])
        this.withFailure(() => this.memory?.take(name.length + value.length))
      }
    })
    parser.on('file', (field, stream, { filename, mimeType }) => this.file(field, stream, filename, mimeType))
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(event, () => this.fail(invalid('The form has too many parts.')))
    parser.on('error', () => this.fail(invalid('The form is malformed.')))
    parser.on('close', () => void this.finish())
    message.on('data', (chunk: Buffer) => {
      this.size += chunk.length
      this.silence.refresh()
      if (this.size > limit) this.fail(overLimit(limit))
    })
    const onClose = (thrown?: Error): void => {
      if (!message.complete) this.fail(interruption(thrown))
    }
    message.on('close', onClose).on('error', onClose)
    this.silence = setTimeout(() => this.silent(), IDLE_TIMEOUT_MS)
    // The caller may have disconnected while the limits of its key were looked up.
    if (isDisconnected(message)) this.fail(interruption(message.errored))
    else message.pipe(parser)
  }

  private withFailure(measure: () => void): void {
    try {
      measure()
    } catch (thrown) {
      this.fail(thrown as GatewayError)
    }
  }

  /** Fails the form after the idle timeout, unless the gateway itself paused reading. */
  private silent(): void {
    if (isDisconnected(this.message)) this.fail(interruption(this.message.errored))
    else if (this.message.isPaused() || this.message.readableFlowing === false) this.silence.refresh()
    else this.fail(TOO_SLOW)
  }

  private file(field: string | undefined, stream: Readable, filename: string | undefined, mediaType: string): void {
    stream.on('error', () => {})
    if (field === undefined) return this.fail(NO_PART_NAME)
    const index = this.files.length
    const as = (bytes: Bytes): WireFile => {
      const file = { field, ...defined({ name: filename }), mediaType, bytes }
      return mediaType === UNDECLARED_TYPE ? { ...file, mediaType: undeclaredType(file) } : file
    }
    const taken = this.take(stream, bytes => this.flow(as(bytes), index, stream)).then(as)
    taken.catch(error => this.fail(error instanceof GatewayError ? error : notStored(error)))
    this.files[index] = taken
  }

  /**
   * Streams the file if the fields before it suffice for a request.
   * @returns true if the file is streamed. At most one file per form is.
   */
  private async flow(file: WireFile, index: number, stream: Readable): Promise<boolean> {
    if (this.streamedFile !== undefined) return false
    const files = [...(await Promise.all(this.files.slice(0, index))), file]
    if (this.failed || !this.ready(this.body(), files)) return false
    this.files[index] = file
    this.streamedFile = stream
    this.usable.resolve({ body: this.body(), files, completeForm: this.completeForm.promise, drop: this.drop })
    return true
  }

  /** Buffers the file in memory or writes it to disk. Never settles if `flow` streams the file. */
  private take(stream: Readable, flow: (bytes: Bytes) => Promise<boolean>): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      const collect = (chunk: Buffer): void => {
        chunks.push(chunk)
        size += chunk.length
        this.bufferedBytes += chunk.length
        this.withFailure(() => this.memory?.take(chunk.length))
        if (this.bufferedBytes <= BUFFER_LIMIT) return
        stream.pause()
        stream.off('data', collect).off('end', end)
        this.bufferedBytes -= size
        this.memory?.give(size)
        flow(new StreamedBytes(chunks, stream, this.message))
          .then(flows => (flows ? undefined : this.spool(chunks, stream).then(resolve)))
          .catch(reject)
      }
      const end = (): void => resolve(new BufferedBytes(Buffer.concat(chunks, size)))
      stream.on('data', collect).on('end', end)
    })
  }

  private async spool(chunks: readonly Buffer[], stream: Readable): Promise<Bytes> {
    const spool = await Spool.open()
    this.spools.push(spool)
    if (this.failed) {
      // `drop` ran while the file was opened.
      spool.close()
      throw FORM_DROPPED
    }
    this.disk ??= this.meters?.disk()
    return spool.fill(chunks, stream, bytes => this.disk?.take(bytes))
  }

  private body(): JsonObject {
    const lists = Map.groupBy(this.entries, ([name]) => name)
    return Object.fromEntries(
      [...lists].map(([name, all]) => [name, all.length === 1 ? all[0]![1] : all.map(([, value]) => value)]),
    )
  }

  private async finish(): Promise<void> {
    clearTimeout(this.silence)
    this.memory?.close()
    if (this.failed) return
    try {
      const form = { body: this.body(), files: await Promise.all(this.files), drop: this.drop }
      this.completeForm.resolve(form)
      this.usable.resolve(form)
    } catch {
      // The failed file has already reported its error.
    }
  }

  private fail(error: GatewayError): void {
    if (this.failed) return
    this.failed = true
    this.usable.reject(error)
    this.completeForm.reject(error)
    this.streamedFile?.destroy(error)
    this.drop()
  }

  private readonly drop = (): void => {
    this.failed = true
    clearTimeout(this.silence)
    this.memory?.close()
    this.disk?.close()
    this.message.unpipe(this.parser)
    if (this.message.complete) this.message.resume()
    if (this.streamedFile?.readableEnded === false) this.streamedFile.destroy()
    if (!this.parser.destroyed) this.parser.destroy()
    for (const spool of this.spools) spool.close()
  }
}

/** Media type of a file that declares none (RFC 7578, section 4.4). Clients in .NET declare none for most files. */
const UNDECLARED_TYPE = 'text/plain'

/** Returns the media type of a file that declares none. Upstreams refuse recordings and images that are called text. */
function undeclaredType(file: WireFile): string {
  const mediaType = typeOfFile(file, ['image', 'audio', 'video'])
  return mediaType === UNDECLARED_TYPE ? 'application/octet-stream' : mediaType
}

/** Bytes of a streamed file: the chunks buffered so far, then the rest as it arrives. */
class StreamedBytes implements Bytes {
  readonly once = true
  /** True once reading has started. The bytes cannot be read a second time. */
  started = false
  /** Length of the form, which is little more than the file. */
  readonly expectedSize?: number
  private readonly chunks: readonly Buffer[]
  private readonly stream: Readable

  constructor(chunks: readonly Buffer[], stream: Readable, { headers }: IncomingMessage) {
    this.chunks = chunks
    this.stream = stream
    const length = Number(headers['content-length'])
    if (length > 0) this.expectedSize = length
  }

  async *read(): AsyncGenerator<Uint8Array> {
    this.started = true
    yield* this.chunks
    yield* this.stream
  }
}

/**
 * Error for a part without a name. The name may be in a parameter that forms do not support (`name*`, RFC 7578, section
 * 4.2).
 */
const NO_PART_NAME = invalid('Each part of a form needs a name.')

const LARGE_FIELD = tooLarge(`A text field of the form is larger than ${LIMITS.fieldSize} bytes.`)
const LARGE_TEXTS = tooLarge(`The text fields of the form are larger than ${TEXTS_LIMIT} bytes in total.`)

/** Ends reading the files of a dropped form. Never sent, because the form has already failed. */
const FORM_DROPPED = new GatewayError({ kind: 'cancelled', message: 'The form was dropped.' })

const overLimit = (limit: number): GatewayError => tooLarge(`The form is larger than ${limit} bytes.`)

/** Returns the error for a file that could not be stored: temporary if the disk caused it, else internal. */
const notStored = (cause: unknown): GatewayError => {
  const isTemporary = DISK_FAULTS.has((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  return new GatewayError(
    { kind: isTemporary ? 'overloaded' : 'internal', message: 'The gateway failed to store the file.' },
    { cause },
  )
}
const DISK_FAULTS: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'ENOENT'],
])

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy, { type Busboy } from 'busboy'
import { type Bytes, HeldBytes } from '../../canonical/bytes.ts'
import { GatewayError, invalid, tooLarge } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { interrupted, isLost, type Meter, TOO_SLOW } from './body.ts'
import { Spool } from './spool.ts'

/** Bytes a whole form may have where the config sets no limit: recordings of hours fit. */
export const FORM_LIMIT = 2 * 1024 ** 3
/** Bytes of files that are held in memory, taken together; held files can be sent twice. */
const HELD_LIMIT = 4 * 1024 * 1024
/** Limits of busboy on a form's parts; no format's request needs more. */
const LIMITS = { fields: 200, files: 64, parts: 264, fieldSize: 8 * 1024 * 1024, fieldNameSize: 200, headerPairs: 100 }
/** Bytes all text fields may have together. */
const TEXTS_LIMIT = 32 * 1024 * 1024
/** Milliseconds without a byte from the caller after which a form is given up. */
const IDLE_TIMEOUT = 60_000

/** A form as far as it has arrived: its text fields, repeated ones as lists, and its files. */
export interface Form {
  readonly body: JsonObject
  readonly files: readonly WireFile[]
  /** The complete form, with what follows the file that flows through; absent where everything is there. */
  readonly whole?: Promise<Form>
  /** Gives the form up: closes its files on disk and releases the connection. */
  drop(): void
}

/** Opens meters for an incomplete form: for what is held in memory, and for what is on disk. */
export interface FormMeters {
  memory(): Meter
  disk(): Meter
}

/** Whether a request can be sent with these fields and files before the rest of the form arrives. */
export type Ready = (body: JsonObject, files: readonly WireFile[]) => boolean

/**
 * A caller's `multipart/form-data`. Small files are held in memory. A large one flows through if `ready` accepts the
 * fields before it, so the promise resolves before the form's end; otherwise it waits on disk, in a file without a
 * name. Rejects with GatewayError: `too-large`, `invalid-request` for a broken form, `cancelled`, and what a meter
 * throws.
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
    return new FormReading(message, parser, limit, ready, meters).begun
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

class FormReading {
  /** Settles as soon as a request can be made of the form. */
  readonly begun: Promise<Form>
  private readonly whole = Promise.withResolvers<Form>()
  private readonly first = Promise.withResolvers<Form>()
  private readonly message: IncomingMessage
  private readonly parser: Busboy
  private readonly ready: Ready
  private readonly entries: [string, string][] = []
  private readonly files: (WireFile | Promise<WireFile>)[] = []
  private readonly spools: Spool[] = []
  private flowing: Readable | undefined
  private size = 0
  private texts = 0
  /** Bytes of files in memory. */
  private held = 0
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
    this.begun = this.first.promise
    this.whole.promise.catch(() => {})
    parser.on('field', (name: string | undefined, value, { valueTruncated, nameTruncated }) => {
      if (name === undefined) return this.fail(NAMELESS)
      this.texts += value.length
      if (valueTruncated || nameTruncated) this.fail(overLimit(LIMITS.fieldSize))
      else if (this.texts > TEXTS_LIMIT) this.fail(overLimit(TEXTS_LIMIT))
      else {
        this.entries.push([name, value])
        this.measured(() => this.memory?.take(name.length + value.length))
      }
    })
    parser.on('file', (field, stream, { filename, mimeType }) => this.file(field, stream, filename, mimeType))
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(event, () => this.fail(invalid('The form has too many parts.')))
    parser.on('error', () => this.fail(invalid('The form is broken.')))
    parser.on('close', () => void this.finish())
    message.on('data', (chunk: Buffer) => {
      this.size += chunk.length
      this.silence.refresh()
      if (this.size > limit) this.fail(overLimit(limit))
    })
    const onClose = (thrown?: Error): void => {
      if (!message.complete) this.fail(interrupted(thrown))
    }
    message.on('close', onClose).on('error', onClose)
    this.silence = setTimeout(() => this.silent(), IDLE_TIMEOUT)
    // The caller may have left while the limits of its key were asked for.
    if (isLost(message)) this.fail(interrupted(message.errored))
    else message.pipe(parser)
  }

  private measured(measure: () => void): void {
    try {
      measure()
    } catch (thrown) {
      this.fail(thrown as GatewayError)
    }
  }

  /** Nothing arrived for long; where reading is paused, the caller is not to blame. */
  private silent(): void {
    if (isLost(this.message)) this.fail(interrupted(this.message.errored))
    else if (this.message.isPaused() || this.message.readableFlowing === false) this.silence.refresh()
    else this.fail(TOO_SLOW)
  }

  private file(field: string | undefined, stream: Readable, filename: string | undefined, mediaType: string): void {
    stream.on('error', () => {})
    if (field === undefined) return this.fail(NAMELESS)
    const slot = this.files.length
    const as = (bytes: Bytes): WireFile => ({ field, ...defined({ name: filename }), mediaType, bytes })
    const taken = this.take(stream, bytes => this.flow(as(bytes), slot, stream)).then(as)
    taken.catch(error => this.fail(error instanceof GatewayError ? error : notStored(error)))
    this.files[slot] = taken
  }

  /** Whether the file flows through: it does where the fields before it suffice for a request. */
  private async flow(file: WireFile, slot: number, stream: Readable): Promise<boolean> {
    if (this.flowing !== undefined) return false
    const files = [...(await Promise.all(this.files.slice(0, slot))), file]
    if (this.failed || !this.ready(this.body(), files)) return false
    this.files[slot] = file
    this.flowing = stream
    this.first.resolve({ body: this.body(), files, whole: this.whole.promise, drop: this.drop })
    return true
  }

  /** The file's bytes, held or on disk; never settles where `flow` lets them flow through. */
  private take(stream: Readable, flow: (bytes: Bytes) => Promise<boolean>): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      const held: Buffer[] = []
      let size = 0
      const collect = (chunk: Buffer): void => {
        held.push(chunk)
        size += chunk.length
        this.held += chunk.length
        this.measured(() => this.memory?.take(chunk.length))
        if (this.held <= HELD_LIMIT) return
        stream.pause()
        stream.off('data', collect).off('end', end)
        this.held -= size
        this.memory?.give(size)
        flow(new FlowingBytes(held, stream))
          .then(flows => (flows ? undefined : this.spool(held, stream).then(resolve)))
          .catch(reject)
      }
      const end = (): void => resolve(new HeldBytes(Buffer.concat(held, size)))
      stream.on('data', collect).on('end', end)
    })
  }

  private async spool(held: readonly Buffer[], stream: Readable): Promise<Bytes> {
    const spool = await Spool.open()
    this.spools.push(spool)
    this.disk ??= this.meters?.disk()
    return spool.fill(held, stream, bytes => this.disk?.take(bytes))
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
      this.whole.resolve(form)
      this.first.resolve(form)
    } catch {
      // The file that failed has reported its error.
    }
  }

  private fail(error: GatewayError): void {
    if (this.failed) return
    this.failed = true
    this.first.reject(error)
    this.whole.reject(error)
    this.flowing?.destroy(error)
    this.drop()
  }

  private readonly drop = (): void => {
    this.failed = true
    clearTimeout(this.silence)
    this.memory?.close()
    this.disk?.close()
    this.message.unpipe(this.parser)
    if (this.message.complete) this.message.resume()
    if (this.flowing?.readableEnded === false) this.flowing.destroy()
    if (!this.parser.destroyed) this.parser.destroy()
    for (const spool of this.spools) spool.close()
  }
}

/** What arrived of a file so far, and the rest as it arrives. */
class FlowingBytes implements Bytes {
  readonly once = true
  /** Reading has begun: the bytes cannot be read again. */
  begun = false
  private readonly held: readonly Buffer[]
  private readonly stream: Readable

  constructor(held: readonly Buffer[], stream: Readable) {
    this.held = held
    this.stream = stream
  }

  async *read(): AsyncGenerator<Uint8Array> {
    this.begun = true
    yield* this.held
    yield* this.stream
  }
}

/** Its name may stand in a parameter that forms do not have (`name*`, RFC 7578, section 4.2). */
const NAMELESS = invalid('Each part of a form needs a name.')

const overLimit = (limit: number): GatewayError => tooLarge(`The form is larger than ${limit} bytes.`)

/** A file that could not be stored: a fault of the disk is temporary, any other is not. */
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

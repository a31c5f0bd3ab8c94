import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy, { type Busboy } from 'busboy'
import { type Bytes, HeldBytes } from '../../canonical/bytes.ts'
import { type ErrorKind, GatewayError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { brokenOff, type Meter, SLOW } from './body.ts'
import { Spool } from './spool.ts'

/** Bytes a whole form may have where the operator says nothing: recordings of hours fit. */
export const FORM_LIMIT = 2 * 1024 ** 3
/** Files so small, taken together, are held in memory, where they can be sent twice. */
const HELD = 4 * 1024 * 1024
/** What a form may have besides; more is no request of any format. */
const LIMITS = { fields: 200, files: 64, parts: 264, fieldSize: 8 * 1024 * 1024, fieldNameSize: 200, headerPairs: 100 }
/** Bytes all text fields may have together. */
const TEXTS = 32 * 1024 * 1024
/** Milliseconds for which a caller may fall silent in the middle of a form. */
const SILENCE = 60_000

/** A form as far as it is known: its text fields, those that come more than once as lists, and its files. */
export interface Form {
  readonly body: JsonObject
  readonly files: readonly WireFile[]
  /** The form with what comes behind the file that flows through; absent where everything is there. */
  readonly whole?: Promise<Form>
  /** Nobody will read more of it: leaves no file behind and lets the connection go. */
  drop(): void
}

/** Opens counts of what came of a form that is not whole yet: of what is held in memory, and of what is on disk. */
export interface FormMeters {
  memory(): Meter
  disk(): Meter
}

/** Whether a form of these fields and files can be asked for before the rest of it is there. */
export type Ready = (body: JsonObject, files: readonly WireFile[]) => boolean

/**
 * A caller's `multipart/form-data`. Small files are held in memory. A large one flows through if `ready` says that the
 * fields before it are enough to begin with, so the form is given back before its end; otherwise it waits on disk, in
 * a file without a name. Rejects with GatewayError: `too-large`, `invalid-request` for a broken form, `cancelled`, and
 * what a meter throws.
 */
export function readForm(message: IncomingMessage, limit: number, ready: Ready, meters?: FormMeters): Promise<Form> {
  if (Number(message.headers['content-length']) > limit) return Promise.reject(tooLarge(limit))
  const encoding = message.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return Promise.reject(broken('A form cannot have a content encoding.'))
  let parser: Busboy
  try {
    parser = busboy({ headers: message.headers, limits: LIMITS, defParamCharset: 'utf8' })
  } catch {
    return Promise.reject(broken('The form has no boundary.'))
  }
  try {
    return new FormReading(message, parser, limit, ready, meters).begun
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

class FormReading {
  /** Settles as soon as the request can be made of it. */
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
    parser.on('field', (name, value, { valueTruncated, nameTruncated }) => {
      this.texts += value.length
      if (valueTruncated || nameTruncated) this.fail(tooLarge(LIMITS.fieldSize))
      else if (this.texts > TEXTS) this.fail(tooLarge(TEXTS))
      else {
        this.entries.push([name, value])
        this.measured(() => this.memory?.take(name.length + value.length))
      }
    })
    parser.on('file', (field, stream, { filename, mimeType }) => this.file(field, stream, filename, mimeType))
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(event, () => this.fail(broken('The form has too many parts.')))
    parser.on('error', () => this.fail(broken('The form is broken.')))
    parser.on('close', () => void this.finish())
    message.on('data', (chunk: Buffer) => {
      this.size += chunk.length
      this.silence.refresh()
      if (this.size > limit) this.fail(tooLarge(limit))
    })
    const left = (thrown?: Error): void => {
      if (!message.complete) this.fail(brokenOff(thrown))
    }
    message.on('close', left).on('error', left)
    this.silence = setTimeout(() => this.silent(), SILENCE)
    message.pipe(parser)
  }

  private measured(measure: () => void): void {
    try {
      measure()
    } catch (thrown) {
      this.fail(thrown as GatewayError)
    }
  }

  /** Nothing came for long; where nobody reads, it is not the caller who keeps the form waiting. */
  private silent(): void {
    if (this.message.isPaused() || this.message.readableFlowing === false) this.silence.refresh()
    else this.fail(SLOW)
  }

  private file(field: string, stream: Readable, filename: string | undefined, mediaType: string): void {
    stream.on('error', () => {})
    const slot = this.files.length
    const as = (bytes: Bytes): WireFile => ({
      field,
      ...(filename === undefined ? {} : { name: filename }),
      mediaType,
      bytes,
    })
    const taken = this.take(stream, bytes => this.flow(as(bytes), slot, stream)).then(as)
    taken.catch(error => this.fail(error instanceof GatewayError ? error : unkept(error)))
    this.files[slot] = taken
  }

  /** Whether the file is let through: it is, where what is known before it is enough to ask with. */
  private async flow(file: WireFile, slot: number, stream: Readable): Promise<boolean> {
    if (this.flowing !== undefined) return false
    const files = [...(await Promise.all(this.files.slice(0, slot))), file]
    if (this.failed || !this.ready(this.body(), files)) return false
    this.files[slot] = file
    this.flowing = stream
    this.first.resolve({ body: this.body(), files, whole: this.whole.promise, drop: this.drop })
    return true
  }

  /** The file's bytes, held or on disk; where `flow` says that they flow through, they are nobody's here. */
  private take(stream: Readable, flow: (bytes: Bytes) => Promise<boolean>): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      const held: Buffer[] = []
      let size = 0
      const collect = (chunk: Buffer): void => {
        held.push(chunk)
        size += chunk.length
        this.held += chunk.length
        this.measured(() => this.memory?.take(chunk.length))
        if (this.held <= HELD) return
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
      // The file that failed has told so.
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

/** What came of a file so far, and the rest as it comes. */
class FlowingBytes implements Bytes {
  readonly once = true
  /** Some of it was taken already: it cannot be had again. */
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

const tooLarge = (limit: number): GatewayError => fault('too-large', `The form is larger than ${limit} bytes allow.`)
/** Our disk would not take it: that passes, which any other reason does not. */
const unkept = (cause: unknown): GatewayError => {
  const passes = DISK.has((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  return new GatewayError(
    { kind: passes ? 'overloaded' : 'internal', message: 'The gateway failed to keep the file.' },
    { cause },
  )
}
const DISK: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'ENOENT'])
const broken = (message: string): GatewayError => fault('invalid-request', message)
const fault = (kind: ErrorKind, message: string): GatewayError => new GatewayError({ kind, message })

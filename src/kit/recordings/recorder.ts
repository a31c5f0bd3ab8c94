import type { IncomingHttpHeaders } from 'node:http'
import { withEscapedControls } from '../../canonical/text.ts'
import { version } from '../../version.ts'
import { recordedBody, recordedBytes } from './body.ts'
import { type Chunk, decodedChunks, redactedChunks } from './chunks.ts'
import { type FileNumbers, type WriteFile, writeToFolder } from './folder.ts'
import { recordedHeaders } from './headers.ts'
import { readRequest } from './read-request.ts'
import { type ArrivedRequest, recordedRequest, redactedBody, redactionFor } from './recorded-request.ts'
import { type RecordedAnswer, type RecordedSession, type Recording, VERSION } from './recording.ts'
import { redactedEvents } from './redact-events.ts'
import type { Redaction } from './redaction.ts'

/** An answer as it arrived, with the chunks as on the wire. */
export interface ArrivedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Time from the start of the request to the head of the answer, in milliseconds. */
  readonly ms: number
  readonly chunks: readonly Chunk[]
  readonly isComplete: boolean
  /** True if the chunks are already decoded, whatever the header `content-encoding` states. */
  readonly isDecoded?: boolean
}

/** A WebSocket session as it happened. */
export type ArrivedSession = Omit<RecordedSession, 'frames'> & {
  readonly frames: readonly (Chunk & { readonly from: 'caller' | 'upstream'; readonly isBinary: boolean })[]
}

export interface RecorderOptions {
  readonly folder: string
  /** Rules of `--redact` and `--ignore`. */
  readonly redact?: readonly string[]
  readonly ignore?: readonly string[]
  /** Writes a new file. The default is the file system's function. */
  readonly write?: WriteFile | undefined
  /** Numbers of files of the folder. Several recorders of one folder share them. */
  readonly numbers?: FileNumbers
  /** Reports an exchange that could not be recorded, and the error unless it was too large. */
  warn(message: string, fault?: Error): void
  /** Reports a written file. */
  onWritten?(file: string, recording: Recording): void
}

/** Writes exchanges to a folder. Failures are reported, and never affect the recorded call. */
export class Recorder {
  private readonly options: RecorderOptions
  private readonly pendingWrites = new Set<Promise<void>>()
  private readonly numbers: FileNumbers
  private lastStart = 0

  constructor(options: RecorderOptions) {
    this.options = options
    this.numbers = options.numbers ?? new Map()
    // Report invalid rules at the start.
    redactionFor({ method: '', url: '', headers: {}, body: Buffer.alloc(0) }, [
      ...(options.redact ?? []),
      ...(options.ignore ?? []),
    ])
  }

  /**
   * Returns the time at which an exchange starts. It increases even if the clock is set back, because equal requests are
   * answered in the order of these times.
   */
  startTime(): Date {
    this.lastStart = Math.max(this.lastStart + 1, Date.now())
    return new Date(this.lastStart)
  }

  exchange(request: ArrivedRequest, answer: ArrivedAnswer, at: Date): void {
    this.write(request, at, async (redaction, streams) => ({
      answer: await recordedAnswer(answer, redaction, streams),
    }))
  }

  session(request: ArrivedRequest, session: ArrivedSession, at: Date): void {
    const messages = session.frames.flatMap(({ from, bytes }) => (from === 'caller' ? [bytes] : []))
    this.write(request, at, async redaction => ({ session: recordedSession(session, redaction) }), messages)
  }

  /** Reports an exchange that was passed on without being recorded. */
  tooLarge(method: string, url: string): void {
    this.options.warn(`cannot record ${nameOf({ method, url })}: the exchange is too large`)
  }

  /** Waits until all exchanges are written. */
  async close(): Promise<void> {
    while (this.pendingWrites.size > 0) await Promise.all(this.pendingWrites)
  }

  private write(request: ArrivedRequest, at: Date, rest: RestOfRecording, messages: readonly Uint8Array[] = []): void {
    const { folder, write, warn, onWritten } = this.options
    const writeExchange = async (): Promise<void> => {
      const recording = await recordExchange(request, at, { ...this.options, messages }, rest)
      const file = await writeToFolder(folder, recording, { write, numbers: this.numbers })
      onWritten?.(file, recording)
    }
    const pending = writeExchange()
      .catch((fault: Error) => warn(`cannot record ${nameOf(request)}: ${fault.message}`, fault))
      .finally(() => this.pendingWrites.delete(pending))
    this.pendingWrites.add(pending)
  }
}

/** Returns the method and path of a request for a message. Both come from callers or from files of other tools. */
const nameOf = ({ method, url }: Pick<ArrivedRequest, 'method' | 'url'>): string =>
  withEscapedControls(`${method} ${url.split('?', 1)[0]}`)

/** Converts the answer or the session to its recorded form. */
type RestOfRecording = (redaction: Redaction, streams: boolean) => Promise<Pick<Recording, 'answer' | 'session'>>

/** Rules of a recording, and the caller's messages in a session. */
interface RecordedRules extends Pick<RecorderOptions, 'redact' | 'ignore'> {
  readonly messages?: readonly Uint8Array[]
}

async function recordExchange(
  request: ArrivedRequest,
  at: Date,
  { redact = [], ignore = [], messages }: RecordedRules,
  rest: RestOfRecording,
): Promise<Recording> {
  const decoded = await decodedRequest(request)
  const redaction = redactionFor(decoded, redact, messages)
  const redactedRequest = await recordedRequest(decoded, redaction)
  const read = readRequest(redactedRequest)
  return {
    ...{ version: VERSION, program: `interlingua ${version()}`, recorded_at: at.toISOString() },
    ...(read === undefined ? {} : { format: read.route.format, endpoint: read.route.path }),
    ...(redact.length === 0 ? {} : { redact }),
    ...(ignore.length === 0 ? {} : { ignore }),
    request: redactedRequest,
    ...(await rest(redaction, read?.streams ?? false)),
  }
}

/** Converts one exchange to a recording. */
export const recordingOf = (request: ArrivedRequest, answer: ArrivedAnswer, at: Date): Promise<Recording> =>
  recordExchange(request, at, {}, async (redaction, streams) => ({
    answer: await recordedAnswer(answer, redaction, streams),
  }))

/**
 * Decodes the body of a request. The replayer also decodes its callers' requests with this function.
 *
 * @throws Error if the body cannot be decoded, because its secrets could not be found.
 */
export async function decodedRequest(request: ArrivedRequest): Promise<ArrivedRequest> {
  const encoding = request.headers['content-encoding']
  if (encoding === undefined) return request
  const chunks = await decodedChunks([{ ms: 0, bytes: Buffer.from(request.body) }], encoding)
  if (chunks === undefined) throw new Error(`the request's encoding ${encoding} cannot be decoded`)
  return { ...request, body: Buffer.concat(chunks.map(({ bytes }) => bytes)) }
}

/** Converts an answer to its recorded form. */
export async function recordedAnswer(
  { status, headers, ms, chunks, isComplete, isDecoded = false }: ArrivedAnswer,
  redaction: Redaction,
  streams: boolean,
): Promise<RecordedAnswer> {
  const encoding = headers['content-encoding']
  const decoded = encoding === undefined || isDecoded ? chunks : await decodedChunks(chunks, encoding, isComplete)
  if (decoded === undefined) throw new Error(`the answer's encoding ${encoding} cannot be decoded`)
  const type = headers['content-type'] ?? ''
  const isWholeJson = /^application\/json\b/i.test(type) && !streams
  const head = {
    ...{ status, headers: recordedHeaders(headers, redaction), ms },
    ...(encoding === undefined ? {} : { content_encoding: encoding }),
  }
  if (isWholeJson || decoded.length === 0) {
    const body = recordedBody(Buffer.concat(decoded.map(({ bytes }) => bytes)))
    return { ...head, ...(body === undefined ? {} : { body: redactedBody(body, redaction) }), complete: isComplete }
  }
  const redacted = redactedChunks(decoded, type, redaction)
  return { ...head, chunks: redacted.map(one => ({ ms: one.ms, ...recordedBytes(one.bytes) })), complete: isComplete }
}

function recordedSession({ frames, closed, protocol }: ArrivedSession, redaction: Redaction): RecordedSession {
  const sides = (['caller', 'upstream'] as const).map(side => {
    const sideFrames = frames.filter(({ from }) => from === side)
    return [
      side,
      redactedEvents(
        sideFrames.map(({ bytes }) => bytes.toString('utf8')),
        redaction,
      )[Symbol.iterator](),
    ] as const
  })
  const texts = new Map(sides)
  const reason = closed?.reason === undefined ? {} : { reason: redaction.text(closed.reason) }
  return {
    ...(protocol === undefined ? {} : { protocol: redaction.text(protocol) }),
    ...(closed === undefined ? {} : { closed: { ...closed, ...reason } }),
    frames: frames.map(({ ms, from, bytes, isBinary }) => {
      const text = texts.get(from)!.next().value as string
      if (!bytes.equals(Buffer.from(bytes.toString('utf8')))) {
        const redacted = Buffer.from(redaction.text(bytes.toString('latin1')), 'latin1')
        return { ms, from, ...recordedBytes(redacted) }
      }
      return { ms, from, ...(isBinary ? { binary: true } : {}), text }
    }),
  }
}

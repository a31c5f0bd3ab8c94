import type { ProblemError } from '../../../api/problem.ts'
import { send } from '../../../api/request.ts'
import { asProblem } from '../../../api/use-load.ts'
import type { Format } from '../clients/client.ts'
import { saidIn } from './answer-text.ts'
import { type HeaderLosses, lossesIn } from './losses.ts'
import { EventSplitter, type RawEvent } from './sse.ts'

/** A request to send: its format, path and body, and the key to send it as. */
export interface Attempt {
  /** Id of the key. */
  readonly key: string
  readonly format: Format
  readonly path: string
  readonly body: { readonly [name: string]: unknown }
}

/** One received event with its time. */
export interface SeenEvent {
  /** Index among all events of the response. */
  readonly at: number
  /** Time since the request was sent, in milliseconds. */
  readonly ms: number
  readonly raw: string
}

/** State of a trial request, updated while the response streams in. */
export interface Trial {
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  readonly format: Format
  /** HTTP status, once the response headers have arrived. */
  readonly status?: number
  readonly requestId?: string
  readonly losses?: HeaderLosses
  /** Time from sending to the first byte, in milliseconds. */
  readonly firstByteMs?: number
  /** Time from sending to the last byte, in milliseconds. */
  readonly ms?: number
  readonly text: string
  readonly thought: string
  readonly error?: string
  /** The last `KEPT` events. `count` and `bytes` include all of them. */
  readonly events: readonly SeenEvent[]
  readonly count: number
  readonly bytes: number
  /** Error of a request that could not be sent or of a response that broke off. */
  readonly problem?: ProblemError
}

/** Maximum number of events stored for display. */
export const KEPT = 300
/** Maximum length of a stored event, in characters. */
const LONGEST = 4000

/**
 * Sends a request through the gateway and reports the response as it streams in. Never rejects.
 *
 * @param signal aborts the request, here and at the upstream.
 * @param show called with a new state for every chunk.
 */
export async function runTrial(attempt: Attempt, signal: AbortSignal, show: (trial: Trial) => void): Promise<void> {
  const began = performance.now()
  const since = (): number => performance.now() - began
  const seen = new Seen(attempt.format, show)
  try {
    const answer = await send('POST', '/try', { body: attempt, signal })
    seen.begin(answer, since())
    await readAll(answer, (piece, size) => seen.take(piece, size, since()))
    seen.end('done', since())
  } catch (thrown) {
    if (signal.aborted) seen.end('stopped', since())
    else seen.fail(asProblem(thrown), since())
  }
}

async function readAll(answer: Response, take: (piece: string, size: number) => void): Promise<void> {
  const decoder = new TextDecoder()
  const reader = answer.body!.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    take(decoder.decode(piece.value, { stream: true }), piece.value.length)
  take(decoder.decode(), 0)
}

/** Collects the state of one response. */
class Seen {
  private trial: Trial
  private readonly show: (trial: Trial) => void
  private readonly splitter = new EventSplitter()
  /** Body of a response that is not a stream. */
  private whole: string | undefined

  constructor(format: Format, show: (trial: Trial) => void) {
    this.show = show
    this.trial = { state: 'running', format, text: '', thought: '', events: [], count: 0, bytes: 0 }
    show(this.trial)
  }

  begin({ headers }: Response, ms: number): void {
    const requestId = headers.get('x-request-id')
    const losses = lossesIn(headers)
    if (headers.get('content-type')?.startsWith('text/event-stream') !== true) this.whole = ''
    this.update({
      status: Number(headers.get('x-interlingua-status') ?? 200),
      firstByteMs: ms,
      ...(requestId === null ? {} : { requestId }),
      ...(losses === undefined ? {} : { losses }),
    })
  }

  take(piece: string, size: number, ms: number): void {
    const bytes = this.trial.bytes + size
    if (this.whole === undefined) return this.add(this.splitter.push(piece), ms, { bytes })
    this.whole += piece
    this.update({ bytes })
  }

  end(state: 'done' | 'stopped', ms: number): void {
    const rest = this.whole === undefined ? this.splitter.end() : wholeOf(this.whole)
    this.add(rest, ms, { state, ms })
  }

  fail(problem: ProblemError, ms: number): void {
    this.add([], ms, { state: 'failed', ms, problem })
  }

  private add(events: readonly RawEvent[], ms: number, more: Partial<Trial>): void {
    let { text, thought, error, count } = this.trial
    const added = events.map(({ raw, data }) => {
      const said = data === undefined ? {} : saidIn(this.trial.format, data)
      text += said.text ?? ''
      thought += said.thought ?? ''
      error ??= said.error
      return { at: count++, ms, raw: shortened(raw) }
    })
    const kept = [...this.trial.events, ...added].slice(-KEPT)
    this.update({ ...more, text, thought, count, events: kept, ...(error === undefined ? {} : { error }) })
  }

  private update(changes: Partial<Trial>): void {
    this.trial = { ...this.trial, ...changes }
    this.show(this.trial)
  }
}

const wholeOf = (text: string): readonly RawEvent[] => (text === '' ? [] : [{ raw: indented(text), data: text }])

const shortened = (raw: string): string =>
  raw.length <= LONGEST ? raw : `${raw.slice(0, LONGEST)} … +${raw.length - LONGEST}`

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

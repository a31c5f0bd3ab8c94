import { type Dispatcher, Pool } from 'undici'
import { CALLERS, type CallerFormat } from '../formats.ts'
import { CHUNKS, DECLARED, LAST_PIECE, type Mode, type SoakedFormat, TOOL } from './calls.ts'

/** How a stream of the soak ended, as its caller saw it. */
export type Ending =
  /** With the last event of its format, and with everything that the upstream sent. */
  | 'whole'
  /** With an error of its format, or an error status. */
  | 'failed'
  /** By the caller. */
  | 'abandoned'
  /** In any other way, which the gateway must never do. */
  | 'wrong'

export interface Kind {
  readonly caller: Extract<CallerFormat, SoakedFormat | 'responses' | 'stored'>
  readonly upstream: SoakedFormat
  readonly mode: Mode
}

export interface Finished {
  readonly kind: Kind
  readonly ending: Ending
  /** Id of the request in the gateway, if the head of an answer arrived. */
  readonly id: string | undefined
  /** Id of the response that the gateway says it has stored. */
  readonly stored: string | undefined
  /** Received text of a stream that ended in a wrong way. */
  readonly text: string
}

/** The last event of a whole stream of each format, and what an error in a stream looks like. */
const MARKS: { readonly [C in Kind['caller']]: { readonly end: RegExp; readonly error: RegExp } } = {
  chat: { end: /data: \[DONE\]\n\n$/, error: /data: \{"error":/ },
  messages: { end: /event: message_stop\ndata: [^\n]*\n\n$/, error: /event: error\n/ },
  contents: { end: /"finishReason":"STOP"/, error: /data: \{"error":/ },
  responses: { end: /event: response\.completed\n/, error: /event: (response\.failed|error)\n/ },
  stored: { end: /event: response\.completed\n/, error: /event: (response\.failed|error)\n/ },
}

/** Opens the streams of the soak. */
export class Callers {
  private readonly pool: Pool

  constructor(origin: string) {
    this.pool = new Pool(origin, { connections: null, pipelining: 1 })
  }

  /**
   * Opens a stream.
   *
   * @param abandonAfter milliseconds after which the caller closes the connection.
   * @param slow true if the caller stops reading for a while.
   */
  open(kind: Kind, key: string, { abandonAfter, slow = false }: Habit = {}): Promise<Finished> {
    return new Promise(resolve => {
      const stream = new Stream(kind, resolve)
      this.pool.dispatch(optionsOf(kind, key), stream)
      if (abandonAfter !== undefined) setTimeout(() => stream.abandon(), abandonAfter).unref()
      if (slow) setTimeout(() => stream.rest(), 200).unref()
    })
  }

  close(): Promise<void> {
    return this.pool.destroy()
  }
}

export interface Habit {
  readonly abandonAfter?: number
  readonly slow?: boolean
}

/** Time for which a slow caller does not read, in milliseconds. */
const REST = 2000

class Stream implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined
  private status = 0
  private id: string | undefined
  private readonly chunks: Buffer[] = []
  private abandoned = false
  private ended = false
  private readonly kind: Kind
  private readonly finish: (finished: Finished) => void

  constructor(kind: Kind, finish: (finished: Finished) => void) {
    this.kind = kind
    this.finish = finish
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.abandoned) controller.abort(new Error('abandoned'))
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.status = status
    this.id = String(headers['x-request-id'])
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(Buffer.from(chunk))
  }

  onResponseEnd(): void {
    this.end(this.abandoned)
  }

  onResponseError(): void {
    this.end(this.abandoned)
  }

  abandon(): void {
    if (this.ended) return
    this.abandoned = true
    this.controller?.abort(new Error('abandoned'))
  }

  rest(): void {
    if (this.ended) return
    this.controller?.pause()
    setTimeout(() => this.controller?.resume(), REST).unref()
  }

  private end(wasAbandoned: boolean): void {
    this.ended = true
    const text = Buffer.concat(this.chunks).toString()
    const ending = wasAbandoned ? 'abandoned' : this.endingOf(text)
    const { kind, id } = this
    this.finish({ kind, ending, id, stored: storedIn(kind, ending, text), text: ending === 'wrong' ? text : '' })
  }

  private endingOf(text: string): Ending {
    const { end, error } = MARKS[this.kind.caller]
    if (this.status >= 400 || error.test(text)) return 'failed'
    return this.status === 200 && end.test(text) && isComplete(this.kind, text) ? 'whole' : 'wrong'
  }
}

/** Returns true if a text has all chunks, or the call of the tool. */
const isComplete = ({ mode }: Kind, text: string): boolean =>
  mode === 'tools' ? text.includes(TOOL) && text.includes(LAST_PIECE) : text.split('statistics').length > CHUNKS

function storedIn({ caller }: Kind, ending: Ending, text: string): string | undefined {
  if (caller !== 'stored' || ending !== 'whole') return undefined
  const last = text.slice(text.lastIndexOf('event: response.completed\n'))
  const { response } = JSON.parse(/^data: (.*)$/m.exec(last)![1]!) as {
    readonly response: { readonly id: string; readonly store: boolean }
  }
  return response.store ? response.id : undefined
}

function optionsOf({ caller, upstream, mode }: Kind, key: string): Dispatcher.DispatchOptions {
  const format = CALLERS[caller]
  const model = `${upstream}-${mode}`
  return {
    ...{ method: 'POST', path: format.path(model, true), bodyTimeout: 0 },
    headers: { 'content-type': 'application/json', ...format.headers, authorization: `Bearer ${key}` },
    body: JSON.stringify({
      ...format.body(model, true, undefined),
      ...(mode === 'tools' ? DECLARED[caller === 'stored' ? 'responses' : caller] : {}),
    }),
  }
}

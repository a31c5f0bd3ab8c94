import type { Serializable } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { StringDecoder } from 'node:string_decoder'
import type { Hub } from './hub.ts'

/** The hub, and the listeners of one worker's events. */
export interface WorkerProcessOptions {
  readonly hub: Hub
  /** Receives complete lines of the worker's standard output. `fault` receives lines of its standard error. */
  out(lines: string): void
  fault(lines: string): void
  listening(one: WorkerProcess): void
  ended(one: WorkerProcess, exitReason: string): void
}

/** Timeout for a worker to start listening, in milliseconds. */
const START_TIMEOUT_MS = 60_000

/** One worker process, as the primary sees it. */
export class WorkerProcess {
  readonly since = performance.now()
  /** Resolves with the worker's address once it listens. Rejects with the reason if it cannot. */
  readonly address: Promise<string>
  readonly exited: Promise<void>
  /** Id of the worker's `Cluster`, once it listens. */
  id: string | undefined
  /** Reason why the worker could not start. */
  reason: string | undefined
  /** True if the primary ended the worker on purpose, so that it is not replaced. */
  isLeaving = false
  /** True if the worker said in its last answer that a debugger may stop it. */
  isDebugged = false
  private unansweredPings = 0
  private readonly worker: Worker
  private readonly hub: Hub
  private readonly listeningResult = Promise.withResolvers<string>()
  private readonly startTimer: NodeJS.Timeout

  constructor(options: WorkerProcessOptions) {
    const { hub } = options
    const worker = cluster.fork()
    this.hub = hub
    this.worker = worker
    this.address = this.listeningResult.promise
    this.address.catch(() => {})
    this.startTimer = setTimeout(() => {
      this.fail('the worker did not start listening in time')
      this.kill()
    }, START_TIMEOUT_MS)
    worker.on(
      'message',
      hub.join(worker.id, {
        send: message => void (worker.isConnected() && worker.send(message as Serializable, undefined, () => {})),
        started: ({ id, address }) => {
          this.id = id
          clearTimeout(this.startTimer)
          this.listeningResult.resolve(address)
          options.listening(this)
        },
        failed: reason => this.fail(reason),
      }),
    )
    pass(worker.process.stdout, options.out)
    pass(worker.process.stderr, options.fault)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.exited = promise
    const end = (exitReason: string): void => {
      this.fail(`the worker ended before it started listening: ${exitReason}`)
      hub.leave(worker.id)
      options.ended(this, exitReason)
      resolve()
    }
    worker.once('exit', (code: number | null, signal: string | null) => end(signal ?? `code ${code}`))
    worker.on('error', fault => {
      // A worker without a process has no `exit`. Any other error is of a message to a worker that had just died.
      if (this.pid === undefined && this.reason === undefined) end(fault.message)
    })
  }

  /** Process id, or undefined if the machine has no process left for the worker. */
  get pid(): number | undefined {
    return this.worker.process.pid
  }

  order(topic: string, message: string | boolean | null = null): void {
    this.hub.order(this.worker.id, topic, message)
  }

  /** Pings the worker once it listens. Returns how many earlier pings in a row it has not answered. */
  ping(): number {
    if (this.id === undefined) return 0
    this.hub.ask(this.worker.id, 'ping').then(
      isDebugged => {
        this.unansweredPings = 0
        this.isDebugged = isDebugged === true
      },
      () => {},
    )
    return this.unansweredPings++
  }

  kill(): void {
    this.worker.process.kill('SIGKILL')
  }

  private fail(reason: string): void {
    clearTimeout(this.startTimer)
    this.reason ??= reason
    this.listeningResult.reject(new Error(reason))
  }
}

/** Forwards a stream line by line. */
function pass(stream: NodeJS.ReadableStream | null, write: (lines: string) => void): void {
  const lines = new Lines(write)
  stream?.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end())
}

/** Maximum length of an incomplete line in memory, in characters. A longer line is split. */
const MAX_LINE_LENGTH = 1024 * 1024

/** Splits the output of a process into complete lines, so that several processes can write to one stream. */
export class Lines {
  private readonly decoder = new StringDecoder()
  private readonly write: (lines: string) => void
  private rest: string[] = []
  private length = 0

  /** @param write receives one or more lines, each with its line break. */
  constructor(write: (lines: string) => void) {
    this.write = write
  }

  push(chunk: Buffer): void {
    const text = this.decoder.write(chunk)
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) {
      this.write(`${this.rest.join('')}${text.slice(0, end)}`)
      this.rest = []
      this.length = 0
    }
    if (end < text.length) this.hold(text.slice(end))
  }

  /** Writes the rest when the process ends, which may be in the middle of a line. */
  end(): void {
    if (this.length > 0) this.write(`${this.rest.join('')}\n`)
    this.rest = []
    this.length = 0
  }

  private hold(text: string): void {
    this.rest.push(text)
    this.length += text.length
    if (this.length > MAX_LINE_LENGTH) this.end()
  }
}

import type { Serializable } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import type { Hub } from './hub.ts'
import { Lines } from './lines.ts'

export interface WorkerProcessOptions {
  readonly hub: Hub
  /** Take whole lines of its standard output, and of its standard error. */
  out(lines: string): void
  fault(lines: string): void
  listening(one: WorkerProcess): void
  ended(one: WorkerProcess, how: string): void
}

/** Milliseconds for a worker to begin to listen. */
const STARTING = 60_000

/** One worker as its primary sees it. */
export class WorkerProcess {
  readonly since = performance.now()
  /** Resolves with its address when it listens; rejects with the reason where it does not. */
  readonly address: Promise<string>
  readonly exited: Promise<void>
  /** The id of its `Cluster`, once it listens. */
  id: string | undefined
  /** Why it did not begin to listen. */
  reason: string | undefined
  /** Its end is wanted. */
  leaving = false
  private readonly worker: Worker
  private readonly hub: Hub
  private readonly started = Promise.withResolvers<string>()
  private readonly late: NodeJS.Timeout

  constructor(options: WorkerProcessOptions) {
    const { hub } = options
    const worker = cluster.fork()
    this.hub = hub
    this.worker = worker
    this.address = this.started.promise
    this.address.catch(() => {})
    this.late = setTimeout(() => {
      this.failed('it does not begin to listen')
      this.kill()
    }, STARTING)
    worker.on(
      'message',
      hub.join(worker.id, {
        send: message => void (worker.isConnected() && worker.send(message as Serializable, undefined, () => {})),
        started: ({ id, address }) => {
          this.id = id
          clearTimeout(this.late)
          this.started.resolve(address)
          options.listening(this)
        },
        failed: reason => this.failed(reason),
      }),
    )
    // Something was sent to a worker that just died.
    worker.on('error', () => {})
    pass(worker.process.stdout, options.out)
    pass(worker.process.stderr, options.fault)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.exited = promise
    worker.once('exit', (code: number | null, signal: string | null) => {
      const how = signal ?? `code ${code}`
      this.failed(`a worker ended before it listened: ${how}`)
      hub.leave(worker.id)
      options.ended(this, how)
      resolve()
    })
  }

  get pid(): number {
    return this.worker.process.pid!
  }

  order(topic: string, message: string | boolean | null = null): void {
    this.hub.order(this.worker.id, topic, message)
  }

  kill(): void {
    this.worker.process.kill('SIGKILL')
  }

  private failed(reason: string): void {
    clearTimeout(this.late)
    this.reason ??= reason
    this.started.reject(new Error(reason))
  }
}

function pass(stream: NodeJS.ReadableStream | null, write: (lines: string) => void): void {
  const lines = new Lines(write)
  stream?.on('data', (chunk: Buffer) => lines.push(chunk)).on('end', () => lines.end())
}

import type { Config } from '../config/index.ts'
import type { Log } from '../server/index.ts'
import type { Terminal } from './outcome.ts'

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/** Time to flush the log at exit, in milliseconds. The reader of the log may be slow. */
export const LOG_FLUSH_TIMEOUT_MS = 1000

/** Time to close everything at exit, in addition to drain and grace times, in milliseconds. A database may be silent. */
export const EXIT_TIMEOUT_MS = 10_000

/** Logs uncaught errors instead of crashing, so that a bug costs one answer rather than all running ones. */
export function logUncaught(log: Log): void {
  process.on('uncaughtException', err => log.error({ err }, 'uncaught error'))
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled promise rejection'))
}

/** Applies command line options, which override the config. */
export const withOptions = (config: Config, { host, port }: ServeOptions): Config => ({
  ...config,
  server: { ...config.server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) },
})

/** Time after a stop signal within which npm may pass on the same signal, in milliseconds. */
const NPM_REPEAT_MS = 500

/** True if npm started this process. On Ctrl-C the terminal signals both, and npm passes its signal on. */
const isUnderNpm = ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '')

/** Resolves with the first stop signal. A second signal exits the process immediately, unless it is npm's repeat. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let stoppedAt: number | undefined
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        const isRepeat = isUnderNpm && stoppedAt !== undefined && performance.now() - stoppedAt < NPM_REPEAT_MS
        if (stoppedAt !== undefined && !isRepeat) process.exit(1)
        stoppedAt ??= performance.now()
        resolve(signal)
      })
  })
}

/** Maximum duration of a start that prints no progress, in milliseconds. */
const SILENT_START_MS = 1000

/** Prints the steps of a slow start to standard error. */
export class Progress {
  private readonly terminal: Terminal
  private readonly timer: NodeJS.Timeout
  private step = ''
  private isLate = false

  /** @param elapsed milliseconds since the process started. */
  constructor(terminal: Terminal, elapsed = performance.now()) {
    this.terminal = terminal
    this.timer = setTimeout(
      () => {
        this.isLate = true
        this.write()
      },
      Math.max(0, SILENT_START_MS - elapsed),
    ).unref()
  }

  /** Sets the current step, for example `opening the store`. */
  begin(step: string): void {
    this.step = step
    if (this.isLate) this.write()
  }

  end(): void {
    clearTimeout(this.timer)
    this.isLate = false
  }

  private write(): void {
    this.terminal.fault(`starting: ${this.step} …`)
  }
}

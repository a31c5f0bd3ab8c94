import type { Config } from '../config/index.ts'
import type { Log } from '../server/index.ts'
import type { ServedFolder } from '../upstreams/mock/channels.ts'
import type { Mock } from '../upstreams/mock/index.ts'
import type { Terminal } from './outcome.ts'

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/** Time to flush the log at exit, in milliseconds. The reader of the log may be slow. */
export const LOG_FLUSH = 1000

/** Logs uncaught errors instead of crashing, so that a bug costs one answer and not all running ones. */
export function logUncaught(log: Log): void {
  process.on('uncaughtException', err => log.error({ err }, 'uncaught error'))
  process.on('unhandledRejection', err => log.error({ err }, 'unhandled promise rejection'))
}

/** Applies command line options, which override the config. */
export const withOptions = (config: Config, { host, port }: ServeOptions): Config => ({
  ...config,
  server: { ...config.server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) },
})

/** How the upstreams of the provider `replay` start. Workers ask their primary for them. */
export interface MockStarts {
  mock(): Promise<Mock>
  folder(folder: string): Promise<ServedFolder & { close(): Promise<void> }>
}

const IN_THIS_PROCESS: MockStarts = {
  mock: async () => (await import('../upstreams/mock/index.ts')).openMock(),
  folder: async folder => (await import('./served-folder.ts')).openFolder(folder),
}

/** Starts the upstreams of the provider `replay` that a config uses: the built-in mock, and folders of recordings. */
export class Mocks {
  private mock: Promise<Mock> | undefined
  private readonly folders = new Map<string, ReturnType<MockStarts['folder']>>()
  private readonly starts: MockStarts

  constructor(starts: MockStarts = IN_THIS_PROCESS) {
    this.starts = starts
  }

  /** Returns the mock upstream. The first call starts it. */
  open(): Promise<Mock> {
    return (this.mock ??= this.starts.mock())
  }

  /** Returns a served folder of recordings. The first call reads it. */
  openFolder(folder: string): ReturnType<MockStarts['folder']> {
    return this.folders.getOrInsertComputed(folder, () => {
      const opened = this.starts.folder(folder)
      // A folder that cannot be read now may be readable after the next change of the config.
      opened.catch(() => this.folders.delete(folder))
      return opened
    })
  }

  async withMock(config: Config): Promise<Config> {
    const replays = config.channels.filter(({ provider }) => provider === 'replay')
    if (replays.length === 0) return config
    const { withFolder, withMock: withReplay } = await import('../upstreams/mock/channels.ts')
    const channels = await Promise.all(
      config.channels.map(async one =>
        one.folder === undefined ? one : withFolder(one, await this.openFolder(one.folder)),
      ),
    )
    const hasBuiltIn = replays.some(({ folder }) => folder === undefined)
    return { ...config, channels: hasBuiltIn ? withReplay(channels, await this.open()) : channels }
  }

  async close(): Promise<void> {
    await (await this.mock)?.close()
    for (const folder of this.folders.values()) await (await folder).close()
  }
}

/** Resolves with the first stop signal. A second signal exits the process immediately. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve(signal)
      })
  })
}

/** Duration of a start that prints no progress, in milliseconds. */
const SILENT_START = 1000

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
      Math.max(0, SILENT_START - elapsed),
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

import type { Config } from '../config/index.ts'
import type { Log } from '../server/index.ts'
import type { Replay } from '../upstreams/mock/index.ts'

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/** Milliseconds for writing the last lines of the log, whose reader may be slow. */
export const LOG_FLUSH = 1000

/** The last resort: an uncaught fault costs one answer, never the process and the answers of all others. */
export function logUncaught(log: Log): void {
  process.on('uncaughtException', err => log.error({ err }, 'a fault of the gateway that nothing caught'))
  process.on('unhandledRejection', err => log.error({ err }, 'a fault of the gateway that nothing caught'))
}

/** Options of the command line take precedence over the config. */
export const overridden = (config: Config, { host, port }: ServeOptions): Config => ({
  ...config,
  server: { ...config.server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) },
})

/** Starts the built-in upstream when a config uses it. */
export class Replays {
  private replay: Promise<Replay> | undefined
  private readonly start: () => Promise<Replay>

  constructor(start: () => Promise<Replay> = async () => (await import('../upstreams/mock/index.ts')).openReplay()) {
    this.start = start
  }

  /** The built-in upstream, started with the first call. */
  open(): Promise<Replay> {
    return (this.replay ??= this.start())
  }

  async filled(config: Config): Promise<Config> {
    if (!config.channels.some(({ provider }) => provider === 'replay')) return config
    const { withReplay } = await import('../upstreams/mock/channels.ts')
    return { ...config, channels: withReplay(config.channels, await this.open()) }
  }

  async close(): Promise<void> {
    await (await this.replay)?.close()
  }
}

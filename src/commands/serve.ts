import { findConfig, followConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { openReplay, type Replay } from '../providers/replay.ts'
import { withReplay } from '../providers/replay-channels.ts'
import { type Log, openLog, openServer, type RunningServer, within } from '../server/index.ts'
import { warningsOf } from './config-warnings.ts'
import { type FirstKey, firstKey } from './first-key.ts'
import { greeting } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { untilStopped } from './stop.ts'

/** Milliseconds for writing the last lines of the log, whose reader may be slow. */
const LOG_FLUSH = 1000

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/**
 * `interlingua serve`: runs the gateway until a signal stops it; running answers may end within the grace time.
 *
 * @throws ConfigError, KeyError, or the error of listening.
 */
export async function serveCommand(options: ServeOptions, version: string, terminal: Terminal): Promise<void> {
  const path = findConfig(options.config)
  const replays = new Replays()
  const log = openLog()
  logUncaught(log)
  const started = Promise.withResolvers<RunningServer>()
  /** As far as they were known at the start. */
  let stored: FirstKey['known'] = []
  let applied: Promise<unknown> = started.promise
  const following = followConfig(
    path,
    next => {
      // In sequence: the last config written is the one in use.
      applied = applied
        .then(async () => apply(await replays.filled(overridden(next, options)), stored, await started.promise, log))
        .catch(fault => log.error({ fault: String(fault) }, 'config kept'))
    },
    fault => log.error({ fault: fault.message }, 'config kept: the new one cannot be used'),
  )
  const config = await replays.filled(overridden(loadConfig(path), options))
  const server = await openServer({ config, log }).catch(async thrown => {
    await replays.close()
    throw thrown
  })
  const first = await firstKey(config).catch((thrown: unknown): FirstKey => {
    terminal.fault(`warning: stored keys cannot be read: ${(thrown as Error).message}`)
    return { known: [] }
  })
  stored = first.known
  if (first.created !== undefined) await server.refresh()
  for (const warning of warningsOf(config, stored)) terminal.fault(`warning: ${warning}`)
  terminal.out(greeting(server.address, config, first, version))
  started.resolve(server)
  process.on('SIGHUP', following.reload)

  const signal = await untilStopped()
  following.close()
  log.info({ signal }, 'stopping')
  // SIGINT comes from a terminal, without a balancer that must notice first.
  if (signal === 'SIGTERM') await server.drain()
  await server.close()
  await replays.close()
  await within(log.flush(), LOG_FLUSH)
}

/** The last resort: an uncaught fault costs one answer, never the process and the answers of all others. */
function logUncaught(log: Log): void {
  process.on('uncaughtException', err => log.error({ err }, 'a fault of the gateway that nothing caught'))
  process.on('unhandledRejection', err => log.error({ err }, 'a fault of the gateway that nothing caught'))
}

/** Replaces the config in use. */
function apply(config: Config, stored: FirstKey['known'], server: RunningServer, log: Log): void {
  server.reload(config)
  for (const warning of warningsOf(config, stored)) log.warn({}, warning)
  log.info({ channels: config.channels.length }, 'config reloaded; host and port take effect at the next start')
}

/** Options of the command line take precedence over the config. */
const overridden = (config: Config, { host, port }: ServeOptions): Config => ({
  ...config,
  server: { ...config.server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) },
})

/** Starts the built-in upstream when a config uses it. */
class Replays {
  private replay: Promise<Replay> | undefined

  async filled(config: Config): Promise<Config> {
    if (!config.channels.some(({ provider }) => provider === 'replay')) return config
    const replay = await (this.replay ??= openReplay())
    return { ...config, channels: withReplay(config.channels, replay) }
  }

  async close(): Promise<void> {
    await (await this.replay)?.close()
  }
}

import cluster from 'node:cluster'
import { findConfig, followConfig, type LoadedFile, loadFile } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { type Log, openLog, openServer, type RunningServer, within } from '../server/index.ts'
import { warningsOf } from './config-warnings.ts'
import { type FirstStart, starting } from './first-start.ts'
import { greeting } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { Progress } from './progress.ts'
import { LOG_FLUSH, logUncaught, overridden, Replays, type ServeOptions } from './serving.ts'
import { untilStopped } from './stop.ts'

export type { ServeOptions } from './serving.ts'

/**
 * `interlingua serve`: runs the gateway until a signal stops it; running answers may end within the grace time.
 *
 * @throws ConfigError, KeyError, or the error of listening.
 */
export async function serveCommand(options: ServeOptions, version: string, terminal: Terminal): Promise<void> {
  const path = findConfig(options.config)
  if (cluster.isWorker) {
    const { serveAsWorker } = await import('./serve-worker.ts')
    return serveAsWorker(path, options)
  }
  const loaded = loadFile(path)
  if (loaded.config.server.workers > 1) {
    const { servePrimary } = await import('./serve-primary.ts')
    return servePrimary(path, options, version, terminal)
  }
  return serveAlone(path, loaded, options, version, terminal)
}

/** One process does everything. */
async function serveAlone(
  path: string | undefined,
  loaded: LoadedFile,
  options: ServeOptions,
  version: string,
  terminal: Terminal,
): Promise<void> {
  const progress = new Progress(terminal)
  const replays = new Replays()
  const log = openLog()
  logUncaught(log)
  const started = Promise.withResolvers<RunningServer>()
  /** As far as they were known at the start. */
  let stored: FirstStart['known'] = []
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
  progress.begin('reading the config')
  const config = await replays.filled(overridden(loadFile(path, loaded).config, options))
  progress.begin('opening the store')
  const server = await openServer({ config, log }).catch(async thrown => {
    await replays.close()
    throw thrown
  })
  progress.begin('looking for keys and users, and making the first ones where there are none')
  const first = await starting(config, terminal)
  stored = first.known
  if (first.created !== undefined) await server.refresh()
  for (const warning of warningsOf(config, stored)) terminal.fault(`warning: ${warning}`)
  progress.end()
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

/** Replaces the config in use. */
function apply(config: Config, stored: FirstStart['known'], server: RunningServer, log: Log): void {
  server.reload(config)
  for (const warning of warningsOf(config, stored)) log.warn({}, warning)
  log.info(
    { channels: config.channels.length },
    'config reloaded; host, port and workers take effect at the next start',
  )
}

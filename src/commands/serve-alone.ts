import { type LoadedFile, loadFile, watchConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import type { NewUser } from '../operators/sign-in/new-user.ts'
import { type Log, openLog, openServer, type RunningServer, within } from '../server/index.ts'
import { type FirstStart, prepareStart } from './first-start.ts'
import { greeting, unusedKeysFor } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { ReplayFolders } from './replay-folders.ts'
import {
  EXIT_TIMEOUT_MS,
  LOG_FLUSH_TIMEOUT_MS,
  logUncaught,
  Progress,
  type ServeOptions,
  untilStopped,
  withOptions,
} from './serving.ts'

/** Everything that a server process needs to start. */
export interface StartOptions {
  readonly path: string | undefined
  readonly options: ServeOptions
  readonly version: string
  /** True if the web console is built. */
  readonly hasPage: boolean
  /** The first console user, if probably needed. */
  readonly user: Promise<NewUser> | undefined
}

/** Runs the gateway in a single process until a signal stops it. Rejects if it cannot listen. */
export async function serveAlone(
  { path, options, version, hasPage, user }: StartOptions,
  loaded: LoadedFile,
  terminal: Terminal,
): Promise<void> {
  const progress = new Progress(terminal)
  const replays = new ReplayFolders()
  const log = openLog()
  logUncaught(log)
  const started = Promise.withResolvers<RunningServer>()
  let isStarted = false
  // The first process of a container gets no signal that it does not wait for.
  const stopSignal = untilStopped()
  void stopSignal.then(() => isStarted || process.exit())
  /** Stored keys known at startup, for warnings about later configs. */
  let storedKeys: FirstStart['storedKeys'] = []
  let lastApply: Promise<unknown> = started.promise
  const watcher = watchConfig(
    path,
    next => {
      // Configs are applied in order, so that the last one written wins.
      lastApply = lastApply
        .then(async () =>
          apply(await replays.applyTo(withOptions(next, options)), storedKeys, await started.promise, log),
        )
        .catch(fault =>
          log.error({ fault: String(fault) }, 'the new config cannot be used; the previous one stays in use'),
        )
    },
    fault => log.error({ fault: fault.message }, 'the new config cannot be used; the previous one stays in use'),
  )
  process.on('SIGHUP', watcher.reload)
  progress.begin('reading the config')
  const config = await replays.applyTo(withOptions(loadFile(path, loaded).config, options))
  watcher.follow(config)
  progress.begin('opening the store')
  const server = await openServer({ config, log }).catch(async thrown => {
    await replays.close()
    throw thrown
  })
  progress.begin('checking keys and users')
  const first = await prepareStart(config, terminal, user, hasPage)
  storedKeys = first.storedKeys
  if (first.created !== undefined) await server.refresh()
  for (const warning of warnings(server.config, storedKeys)) terminal.fault(`warning: ${warning}`)
  progress.end()
  terminal.out(greeting(server.address, server.config, first, version, unusedKeysFor(path)))
  started.resolve(server)
  isStarted = true

  const signal = await stopSignal
  watcher.close()
  log.info({ signal }, 'stopping')
  // SIGINT comes from a terminal, so there is no load balancer to wait for.
  if (signal === 'SIGTERM') await server.drain()
  const isClosed = await within(server.close(), server.config.server.grace + EXIT_TIMEOUT_MS)
  if (!isClosed) log.error({}, 'not everything could be closed in time; the store may not answer')
  await replays.close()
  await within(log.flush(), LOG_FLUSH_TIMEOUT_MS)
  // Open connections to the store would keep the process alive.
  if (!isClosed) process.exit()
}

/** Switches to a new config. */
function apply(config: Config, stored: FirstStart['storedKeys'], server: RunningServer, log: Log): void {
  server.reload(config)
  for (const warning of warnings(server.config, stored)) log.warn({}, warning)
  log.info(
    { channels: server.config.channels.length },
    'config reloaded; host, port and workers take effect after a restart',
  )
}

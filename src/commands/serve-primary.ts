import { createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { LimitStep } from '../accounts/limits/index.ts'
import type { Json } from '../canonical/node.ts'
import { loadFile, watchConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import type { Snapshot } from '../gateway/metrics/index.ts'
import { LAST_METRICS, METRICS, MetricsMemory } from '../gateway/metrics/memory.ts'
import { openLog, within } from '../server/index.ts'
import { Hub } from '../store/cluster/hub.ts'
import { Workers } from '../store/cluster/workers.ts'
import { TOKEN_TOPIC } from '../upstreams/credentials/index.ts'
import { PrimaryTokens } from '../upstreams/credentials/primary-tokens.ts'
import { configInUse } from './config-in-use.ts'
import { prepareStart } from './first-start.ts'
import { greeting, unusedKeysFor } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { RedisLinks } from './redis-links.ts'
import { ReplayFolders } from './replay-folders.ts'
import type { StartOptions } from './serve-alone.ts'
import { EXIT_TIMEOUT_MS, LOG_FLUSH_TIMEOUT_MS, logUncaught, Progress, untilStopped, withOptions } from './serving.ts'

/** Starts the workers and maintains their number until a signal stops the gateway. */
export async function servePrimary(
  { path, options, version, hasPage, user }: StartOptions,
  terminal: Terminal,
): Promise<void> {
  const progress = new Progress(terminal)
  const log = openLog()
  logUncaught(log)
  const started = Promise.withResolvers<(next: Config, configText: string | undefined) => Promise<void>>()
  let lastApply: Promise<unknown> = started.promise
  const watcher = watchConfig(
    path,
    (next, configText) => {
      lastApply = lastApply
        .then(async () => (await started.promise)(withOptions(next, options), configText))
        .catch(fault =>
          log.error(
            { fault: String(fault) },
            'new workers cannot start; the others keep running with the previous config',
          ),
        )
    },
    fault => log.error({ fault: fault.message }, 'the new config cannot be used; the previous one stays in use'),
  )
  process.on('SIGHUP', watcher.reload)
  progress.begin('reading the config')
  const loaded = loadFile(path)
  let config = withOptions(loaded.config, options)
  watcher.follow(config)
  /**
   * Text of the last applied config file. New workers start with this text, even if the file has since changed or
   * disappeared.
   */
  let text = loaded.text
  const hub = new Hub(log)
  const links = new RedisLinks(hub, config, log)
  const replays = new ReplayFolders()
  const { host, port, workers: count } = config.server
  const chosenPort = port === 0 ? await freePort(host) : null
  hub.answer('limits', async steps => (await links.limits.take(steps as unknown as LimitStep[])) as unknown as Json)
  hub.answer('limits-settled', () => !links.limits.isAlone)
  hub.answer('limits-places', message => {
    const { owner, key } = message as { readonly owner: string; readonly key: string }
    links.limits.noteOwner(owner, key)
    return null
  })
  hub.answer('settings', () => ({ port: chosenPort, path: path ?? null, text: text ?? null }))
  const tokens = new PrimaryTokens(({ message: said }) =>
    log.warn({ said }, 'a token could not be renewed; the old one stays in use until it expires'),
  )
  hub.answer(TOKEN_TOPIC, async message => (await tokens.answer(message as never)) as unknown as Json)
  hub.answer('replay-folder', async folder => {
    const { url, models } = await replays.open(String(folder))
    return { url, models: models as unknown as Json }
  })
  const metrics = new MetricsMemory()
  hub.answer(METRICS, async () => (await metrics.collect(() => gatherMetrics(hub))) as unknown as Json)
  hub.answer(LAST_METRICS, snapshot => {
    metrics.finish(snapshot as unknown as Snapshot)
    return null
  })
  const workers = new Workers({
    ...{ hub, log, out: lines => log.writeLines(lines), fault: lines => process.stderr.write(lines) },
    ended: id => {
      metrics.end(id)
      links.limits.leaveAll(id)
    },
  })
  process.on('SIGHUP', () => workers.order('reload'))
  const stopSignal = untilStopped()
  process.once('exit', () => workers.kill())
  const close = async (): Promise<void> => {
    watcher.close()
    hub.close()
    await links.close()
    await replays.close()
    await within(log.flush(), LOG_FLUSH_TIMEOUT_MS)
  }
  // Workers read the stored keys at startup, so create the first key before starting workers.
  const startAll = async () => {
    progress.begin('checking keys and users')
    const first = await prepareStart(config, terminal, user, hasPage)
    progress.begin(`starting ${count} workers`)
    return { first, address: await workers.start(count) }
  }
  const starting = startAll().catch(async (thrown: unknown) => {
    await close()
    throw thrown
  })
  const start = await Promise.race([starting, stopSignal.then(() => undefined)])
  progress.end()
  // No request runs yet, and a start may wait long for a database.
  if (start === undefined) process.exit()
  const { first, address } = start
  const inUse = await configInUse(config)
  for (const warning of warnings(inUse, first.storedKeys)) terminal.fault(`warning: ${warning}`)
  terminal.out(greeting(address, await replays.applyTo(inUse), first, version, unusedKeysFor(path)))

  const apply = async (next: Config, configText: string | undefined): Promise<void> => {
    for (const warning of warnings(await configInUse(next), first.storedKeys)) log.warn({}, warning)
    const before = text
    text = configText
    try {
      await (needsProcesses(config, next)
        ? links.during(next, () => workers.roll(next.server.workers))
        : workers.resize(next.server.workers))
    } catch (fault) {
      text = before
      throw fault
    }
    config = next
    log.info({ channels: next.channels.length, workers: workers.pids.length }, 'config reloaded')
  }
  started.resolve(apply)

  const signal = await stopSignal
  watcher.close()
  log.info({ signal }, 'stopping')
  const { drain, grace } = config.server
  await workers.stop(signal, drain + grace + EXIT_TIMEOUT_MS)
  await close()
}

const gatherMetrics = async (hub: Hub): Promise<readonly Snapshot[]> =>
  (await hub.gather(METRICS, null)) as unknown as readonly Snapshot[]

/** Config parts that a worker reads only at startup. */
const fixedParts = ({ dataDir, store, redis, metrics, server: { host, port, tls } }: Config) => ({
  ...{ dataDir, store, redis, metrics, host, port, tls },
})

const needsProcesses = (before: Config, next: Config): boolean =>
  !isDeepStrictEqual(fixedParts(before), fixedParts(next))

/** Returns a port that is currently free. */
async function freePort(host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = createServer().once('error', reject)
  server.listen(0, host, () => {
    const { port } = server.address() as { readonly port: number }
    server.close(() => resolve(port))
  })
  return promise
}

import { isObject, type Json } from '../canonical/node.ts'
import { Member } from '../cluster/member.ts'
import { followConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { servedCases } from '../providers/replay.ts'
import { type Log, openLog, openServer, type RunningServer, within } from '../server/index.ts'
import { LOG_FLUSH, logUncaught, overridden, Replays, type ServeOptions } from './serving.ts'
import { untilStopped } from './stop.ts'

/** One of several processes that answer requests; its primary starts and ends it. Never returns. */
export async function serveAsWorker(path: string | undefined, options: ServeOptions): Promise<never> {
  const log = openLog()
  logUncaught(log)
  const { member, config, ended } = joined(path, options, log)
  try {
    const settings = await member.ask('settings', null)
    const replays = new Replays(async () => ({
      url: String(await member.ask('replay', null)),
      cases: servedCases(),
      close: async () => {},
    }))
    const server = await openServer({
      config: await replays.filled(withPort(config(), settings)),
      log,
      cluster: member,
    })
    const follower = new Follower(path, next => replays.filled(overridden(next, options)), server, log)
    member.onOrder('reload', () => follower.reload())
    process.on('SIGHUP', () => follower.reload())
    await member.ask('started', { id: member.id, address: server.address })
    const order = await ended
    follower.close()
    if (order === 'retire') await server.retire()
    if (order === 'SIGTERM') await server.drain()
    await server.close()
  } catch (thrown) {
    await member.ask('failed', (thrown as Error).message).catch(() => {})
    process.exitCode = 1
  }
  await within(log.flush(), LOG_FLUSH)
  process.exit()
}

type Ending = 'retire' | NodeJS.Signals

/** The worker's side of its primary. `ended` says how it is to end. */
function joined(path: string | undefined, options: ServeOptions, log: Log) {
  const ended = Promise.withResolvers<Ending>()
  void untilStopped().then(ended.resolve)
  const send = (message: Json): void => void (process.connected && process.send!(message, undefined, {}, () => {}))
  let config: Config | undefined
  let fault: unknown
  try {
    config = overridden(loadConfig(path), options)
  } catch (thrown) {
    fault = thrown
  }
  const member = new Member({ redis: config?.redis, log, send })
  process.on('message', message => member.receive(message))
  member.onOrder('stop', signal => ended.resolve(signal as NodeJS.Signals))
  member.onOrder('retire', () => ended.resolve('retire'))
  const loaded = (): Config => {
    if (config === undefined) throw fault
    return config
  }
  return { member, config: loaded, ended: ended.promise }
}

/** Where the config leaves the choice of the port open, the primary has made it for all workers. */
const withPort = (config: Config, settings: Json): Config => {
  const port = isObject(settings) ? settings['port'] : undefined
  if (config.server.port !== 0 || typeof port !== 'number') return config
  return { ...config, server: { ...config.server, port } }
}

/** Applies every new config; the primary logs what there is to say about it. */
class Follower {
  private readonly following: ReturnType<typeof followConfig>
  private applied: Promise<unknown> = Promise.resolve()

  constructor(
    path: string | undefined,
    complete: (config: Config) => Promise<Config>,
    server: RunningServer,
    log: Log,
  ) {
    const apply = (next: Config): void => {
      this.applied = this.applied
        .then(async () => server.reload(await complete(next)))
        .catch(fault => log.error({ fault: String(fault) }, 'config kept'))
    }
    this.following = followConfig(path, apply, () => {})
  }

  reload(): void {
    this.following.reload()
  }

  close(): void {
    this.following.close()
  }
}

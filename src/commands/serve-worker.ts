import { readFileSync } from 'node:fs'
import type { Json } from '../canonical/node.ts'
import { watchConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { defaultConfig, readConfig } from '../config/read.ts'
import { type Log, openLog, openServer, type RunningServer, within } from '../server/index.ts'
import { Member } from '../store/cluster/member.ts'
import type { ServedFolder } from '../upstreams/replay-channels.ts'
import { ReplayFolders } from './replay-folders.ts'
import { LOG_FLUSH_TIMEOUT_MS, logUncaught, type ServeOptions, untilStopped, withOptions } from './serving.ts'

/** Runs one of several worker processes, which the primary starts and stops. Never returns. */
export async function serveAsWorker(options: ServeOptions): Promise<never> {
  const log = openLog()
  logUncaught(log)
  const { member, ended, stopped } = joinPrimary(log)
  try {
    const { port, path, text } = (await member.ask('settings', null)) as unknown as Settings
    const replays = new ReplayFolders(async folder => ({
      ...((await member.ask('replay-folder', folder)) as unknown as ServedFolder),
      close,
    }))
    const prepare = (config: Config) => replays.applyTo(withOptions(config, options))
    const config = await prepare(text === null ? defaultConfig() : readConfig(text, process.env, path ?? undefined))
    member.connect(config.redis)
    const started = Promise.withResolvers<RunningServer>()
    const follower = new Follower({ path: path ?? undefined, config, prepare, server: started.promise, log })
    member.onOrder('reload', () => follower.reload())
    process.on('SIGHUP', () => follower.reload())
    // A new worker gets no notice if the file changed after the primary read it, so compare the texts.
    if (path !== null && textOf(path) !== text) follower.reload()
    const opening = openServer({ config: withPort(config, port), log, cluster: member })
    const server = await Promise.race([opening, ended.then(() => undefined)])
    // The gateway ends before this worker listens: a start may wait long for a database.
    if (server === undefined) process.exit()
    started.resolve(server)
    await member.ask('started', { id: member.id, address: server.address })
    const order = await ended
    follower.close()
    if (order === 'SIGTERM') await server.drain()
    if (order !== 'retire') await server.close()
    else {
      await server.retire()
      await server.close(RETIRED_GRACE_MS, stopped)
    }
  } catch (thrown) {
    await member.ask('failed', (thrown as Error).message).catch(() => {})
    process.exitCode = 1
  }
  await within(log.flush(), LOG_FLUSH_TIMEOUT_MS)
  process.exit()
}

/**
 * Maximum time for a replaced worker to finish its answers while the gateway runs on, in milliseconds: that of the
 * longest voice sessions.
 */
const RETIRED_GRACE_MS = 3_600_000

/** Does nothing, because the primary closes the folders that it serves to its workers. */
const close = async (): Promise<void> => {}

/** Settings that the primary sends to its workers. */
interface Settings {
  /** The port that the primary chose for all workers, if the config leaves it open. */
  readonly port: number | null
  /** Path of the config file. Null if there is none. */
  readonly path: string | null
  /** Text of the config in use. The file itself may since have become faulty or missing. */
  readonly text: string | null
}

type StopOrder = 'retire' | NodeJS.Signals

/**
 * Connects the worker to its primary. The promise `ended` resolves with the order or signal to stop, and `stopped` once
 * the whole gateway stops.
 */
function joinPrimary(log: Log) {
  const ended = Promise.withResolvers<StopOrder>()
  const stopped = Promise.withResolvers<NodeJS.Signals>()
  void stopped.promise.then(ended.resolve)
  void untilStopped().then(stopped.resolve)
  const send = (message: Json): void => void (process.connected && process.send!(message, undefined, {}, () => {}))
  const member = new Member({ log, send })
  process.on('message', message => member.receive(message))
  member.onOrder('stop', signal => stopped.resolve(signal as NodeJS.Signals))
  member.onOrder('retire', () => ended.resolve('retire'))
  return { member, ended: ended.promise, stopped: stopped.promise }
}

/** Applies the port that the primary chose, if the config leaves it open. */
const withPort = (config: Config, port: number | null): Config =>
  config.server.port !== 0 || port === null ? config : { ...config, server: { ...config.server, port } }

/** Reads the config file. Returns undefined if it cannot be read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

interface FollowerOptions {
  /** Path of the config file, or undefined if there is none. */
  readonly path: string | undefined
  /** The config in use. */
  readonly config: Config
  readonly prepare: (config: Config) => Promise<Config>
  readonly server: Promise<RunningServer>
  readonly log: Log
}

/** Applies config changes in a worker. The primary logs the warnings. */
class Follower {
  private readonly watcher: ReturnType<typeof watchConfig>
  private lastApply: Promise<unknown> = Promise.resolve()

  constructor({ path, config, prepare, server, log }: FollowerOptions) {
    const apply = (next: Config): void => {
      this.lastApply = this.lastApply
        .then(async () => {
          const prepared = await prepare(next)
          ;(await server).reload(prepared)
        })
        .catch(fault =>
          log.error({ fault: String(fault) }, 'the new config cannot be used; the previous one stays in use'),
        )
    }
    this.watcher = watchConfig(path, apply, () => {})
    this.watcher.follow(config)
  }

  reload(): void {
    this.watcher.reload()
  }

  close(): void {
    this.watcher.close()
  }
}

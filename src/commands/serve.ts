import { findConfig, followConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config.ts'
import { openReplay, type Replay } from '../providers/replay.ts'
import { withReplay } from '../providers/replay-channels.ts'
import { openLog, openServer } from '../server.ts'
import { firstKey } from './first-key.ts'
import { greeting } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { untilStopped } from './stop.ts'

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
}

/**
 * `interlingua serve`: runs the gateway until it is asked to stop; then running answers may end within the grace time.
 *
 * @throws ConfigError, KeyError, or what listening throws.
 */
export async function serveCommand(options: ServeOptions, version: string, terminal: Terminal): Promise<void> {
  const path = findConfig(options.config)
  const replays = new Replays()
  const config = await replays.filled(overridden(loadConfig(path), options))
  const log = openLog()
  const server = await openServer({ config, log }).catch(async thrown => {
    await replays.close()
    throw thrown
  })
  const first = firstKey(config)
  if (first.made !== undefined) server.reload(config)
  terminal.out(greeting(server.address, config, first, version))

  const following = followConfig(
    path,
    next => {
      replays.filled(overridden(next, options)).then(
        filled => {
          server.reload(filled)
          log.info({ config: path, channels: filled.channels.length }, 'config reloaded')
        },
        fault => log.error({ config: path, fault: String(fault) }, 'config kept'),
      )
    },
    fault => log.error({ config: path, fault: fault.message }, 'config kept: the new one is faulty'),
  )
  process.on('SIGHUP', following.reload)

  await untilStopped()
  following.close()
  await server.close(config.server.grace)
  await replays.close()
  log.flush()
}

/** What the command line says goes before what the file says. */
const overridden = (config: Config, { host, port }: ServeOptions): Config => ({
  ...config,
  server: { ...config.server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) },
})

/** Starts the built-in upstream once a config asks for it. */
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

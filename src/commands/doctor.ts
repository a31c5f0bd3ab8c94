import { ConfigError } from '../config/faults.ts'
import { findConfig, loadFile } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import { Services } from '../gateway/services.ts'
import { SILENT } from '../log.ts'
import { SingleProcessCluster } from '../store/cluster/single-process.ts'
import { certificateFinding, channelFindings, type Finding, storeFinding } from './doctor-checks.ts'
import { unusedKeysFor } from './greeting.ts'
import type { Terminal } from './outcome.ts'
import { redisFinding } from './redis-finding.ts'
import { ReplayFolders } from './replay-folders.ts'

/** Maximum number of channels that are tested at once. */
const MAX_CONCURRENT_TESTS = 8

/**
 * `interlingua doctor`: checks config, certificate, store, Redis and each channel, and prints what to do. Sends each
 * channel a request for its models and a request for a single token.
 *
 * @returns true if there is no fault.
 */
export async function doctorCommand(file: string | undefined, terminal: Terminal): Promise<boolean> {
  let isHealthy = true
  for await (const { level, subject, text, remedy } of findings(file)) {
    isHealthy &&= level !== 'fault'
    terminal.out(`${level.padEnd(8)} ${subject}: ${text}${remedy === undefined ? '' : `\n${' '.repeat(9)}${remedy}`}`)
  }
  return isHealthy
}

async function* findings(file: string | undefined): AsyncGenerator<Finding> {
  const path = findConfig(file)
  let loadedConfig: Config
  try {
    loadedConfig = loadFile(path).config
  } catch (thrown) {
    const text = thrown instanceof ConfigError ? `\n${thrown.message}` : (thrown as Error).message
    return yield { level: 'fault', subject: 'config', text, remedy: 'correct these fields' }
  }
  yield { level: 'ok', subject: 'config', text: path ?? 'none; the channels come from environment variables' }
  for (const text of warnings(loadedConfig)) yield { level: 'warning', subject: 'config', text }
  for (const { key, missing } of unusedKeysFor(path))
    yield { level: 'warning', subject: 'environment', text: `${key} is unused`, remedy: `set ${missing.join(' and ')}` }
  const replays = new ReplayFolders()
  try {
    yield* findingsOf(await replays.applyTo(loadedConfig))
  } finally {
    await replays.close()
  }
}

async function* findingsOf(config: Config): AsyncGenerator<Finding> {
  const certificate = certificateFinding(config, Date.now())
  if (certificate !== undefined) yield certificate
  const cluster = new SingleProcessCluster(config, SILENT)
  const services = new Services(config, SILENT, cluster)
  try {
    await cluster.ready()
    await services.open()
    yield await storeFinding(services)
    const redis = await redisFinding(cluster.redis)
    if (redis !== undefined) yield redis
    // The built-in provider and folders of recordings need no key and no network.
    const all = services.channels.all.filter(one => one.config.provider !== 'replay')
    for (let start = 0; start < all.length; start += MAX_CONCURRENT_TESTS)
      for (const found of await Promise.all(
        all.slice(start, start + MAX_CONCURRENT_TESTS).map(one => channelFindings(one, services)),
      ))
        yield* found
  } catch (thrown) {
    yield { level: 'fault', subject: 'store', text: (thrown as Error).message, remedy: 'check `store` and `data_dir`' }
  } finally {
    await services.close()
    await cluster.close()
  }
}

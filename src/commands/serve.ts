import cluster from 'node:cluster'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findConfig, loadFile } from '../config/file.ts'
import { CONSOLE_FILES } from '../root.ts'
import { expectedUser } from './expected-user.ts'
import type { Terminal } from './outcome.ts'
import type { ServeOptions } from './serving.ts'

export type { ServeOptions } from './serving.ts'

/**
 * `interlingua serve`: runs the gateway until a signal stops it. Answers in progress may finish within the
 * grace period.
 *
 * @throws ConfigError, KeyError, or the system's error if the server cannot listen.
 */
export async function serveCommand(options: ServeOptions, version: string, terminal: Terminal): Promise<void> {
  if (cluster.isWorker) {
    const { serveAsWorker } = await import('./serve-worker.ts')
    return serveAsWorker(options)
  }
  const path = findConfig(options.config)
  const loaded = loadFile(path)
  const hasPage = existsSync(join(CONSOLE_FILES, 'index.html'))
  const startOptions = { path, options, version, hasPage, user: hasPage ? expectedUser(loaded.config) : undefined }
  if (loaded.config.server.workers > 1) {
    const { servePrimary } = await import('./serve-primary.ts')
    return servePrimary(startOptions, terminal)
  }
  const { serveAlone } = await import('./serve-alone.ts')
  return serveAlone(startOptions, loaded, terminal)
}

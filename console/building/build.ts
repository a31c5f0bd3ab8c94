import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { DIST, isCurrent } from './sources.ts'

/**
 * Builds the console into `console/dist`. Vite writes to a temporary folder, which then replaces `dist` by renaming:
 * servers may read `dist`, and other processes may build at the same time.
 */
export async function buildConsole(): Promise<void> {
  const fresh = mkdtempSync(join(DIST, '../.dist-'))
  try {
    const configFile = join(import.meta.dirname, '../vite.config.ts')
    await build({ configFile, logLevel: 'warn', build: { outDir: fresh, emptyOutDir: true } })
    // Only its owner may read a temporary folder. The gateway may run as another user.
    chmodSync(fresh, 0o755)
    rmSync(DIST, { recursive: true, force: true })
    renameSync(fresh, DIST)
  } catch (fault) {
    rmSync(fresh, { recursive: true, force: true })
    // Ignore the error when another process finished the same build first.
    if (!isCurrent()) throw fault
  }
}

/** Builds the console if the build is missing or stale. */
export async function buildIfStale(): Promise<void> {
  if (!isCurrent()) await buildConsole()
}

if (import.meta.main) {
  const began = performance.now()
  await buildConsole()
  console.log(`The console was built in ${((performance.now() - began) / 1000).toFixed(1)} s.`)
}

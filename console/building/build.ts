import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { DIST, isCurrent } from './sources.ts'

/**
 * Builds the page into `console/dist`. It is built beside the one there is and takes its place at once, as servers may
 * read it and other processes may build it at the same time.
 */
export async function buildConsole(): Promise<void> {
  const fresh = mkdtempSync(join(DIST, '../.dist-'))
  try {
    const configFile = join(import.meta.dirname, '../vite.config.ts')
    await build({ configFile, logLevel: 'warn', build: { outDir: fresh, emptyOutDir: true } })
    // A temporary folder is its owner's alone; the gateway may run as another.
    chmodSync(fresh, 0o755)
    rmSync(DIST, { recursive: true, force: true })
    renameSync(fresh, DIST)
  } catch (fault) {
    rmSync(fresh, { recursive: true, force: true })
    // Another process was faster.
    if (!isCurrent()) throw fault
  }
}

/** Builds the page where it is missing or was built of other sources. */
export async function buildIfStale(): Promise<void> {
  if (!isCurrent()) await buildConsole()
}

if (import.meta.main) {
  const began = performance.now()
  await buildConsole()
  console.log(`The console was built in ${((performance.now() - began) / 1000).toFixed(1)} s.`)
}

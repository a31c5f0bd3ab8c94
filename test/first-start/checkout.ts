import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** Timeout of an installation, in milliseconds. */
const INSTALLING = 900_000

/** A new clone of the committed files. */
export class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), 'first-start-'))

  constructor() {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, this.folder])
  }

  /** Installs the packages as a user does, with the machine's npm and Node. Returns the output. */
  install(...options: string[]): { readonly out: string; readonly fault: string } {
    const words = ['ci', '--prefer-offline', '--no-audit', '--no-fund', ...options]
    const { status, stdout, stderr, error } = spawnSync('npm', words, {
      cwd: this.folder,
      env: userEnv(),
      encoding: 'utf8',
      timeout: INSTALLING,
    })
    assert.equal(status, 0, `npm ci: ${error?.message ?? ''}${stderr}`)
    return { out: stdout, fault: stderr }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/**
 * Returns the environment of a user: without the variables of the npm that runs this program (its Node comes first in
 * the path), without providers' keys, and without settings that make the gateway run from its sources.
 */
export function userEnv(home?: string): { readonly [name: string]: string | undefined } {
  const path = (process.env['PATH'] ?? '').split(':').filter(folder => !folder.includes('node_modules'))
  // Npm finds its cache and its registry in these variables.
  const npm = Object.entries(process.env).filter(([name]) => /^npm_config_(?:cache|registry)$/i.test(name))
  return { PATH: path.join(':'), HOME: home ?? process.env['HOME'], ...Object.fromEntries(npm) }
}

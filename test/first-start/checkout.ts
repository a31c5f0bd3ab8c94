import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** Milliseconds for an install. */
const INSTALLING = 900_000

/** A fresh clone of what is committed here. */
export class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), 'first-start-'))

  constructor() {
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', ROOT, this.folder])
  }

  /** Installs its packages as a user does, with the npm and the Node of the machine; what was printed. */
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
 * The environment of a user: nothing of the npm that runs this program, whose Node comes first in the path, no provider's
 * key, nothing that has the sources run.
 */
export function userEnv(home?: string): { readonly [name: string]: string | undefined } {
  const path = (process.env['PATH'] ?? '').split(':').filter(folder => !folder.includes('node_modules'))
  // Npm finds its cache and its registry there.
  const npm = Object.entries(process.env).filter(([name]) => /^npm_config_(?:cache|registry)$/i.test(name))
  return { PATH: path.join(':'), HOME: home ?? process.env['HOME'], ...Object.fromEntries(npm) }
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const ROOT = join(import.meta.dirname, '..')

/** Maximum time of a start, in milliseconds. */
const STARTING = 20_000

/**
 * Starts the gateway once and ends it, on a free port of the loopback interface, in an empty folder and without
 * provider keys. Later starts read the compiled code that it leaves in the cache.
 */
export async function warmUp(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-'))
  try {
    const config = join(folder, 'interlingua.json')
    writeFileSync(config, JSON.stringify({ data_dir: join(folder, 'data') }))
    const gateway = spawn(
      process.execPath,
      [...startFlags(), join(ROOT, 'bin/interlingua.js'), '--config', config, 'serve', '--port', '0'],
      { cwd: folder, env: { HOME: folder, PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'ignore'] },
    )
    const late = setTimeout(() => gateway.kill('SIGKILL'), STARTING)
    const exited = once(gateway, 'exit')
    const said = text(gateway.stdout)
    gateway.stdout.once('data', () => gateway.kill('SIGINT'))
    await exited
    clearTimeout(late)
    if (!(await said).includes(' listens on ')) throw new Error('it does not start')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Node options that `npm start` uses. Compiled code can only be reused with the same options. */
function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string }
  }
  return scripts.start.split(' ').filter(word => word.startsWith('--'))
}

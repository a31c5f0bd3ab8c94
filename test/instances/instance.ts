import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { ENV, MAIN } from '../builders/paths.ts'

/** Settings that several instances have in common. Each has a folder of its own. */
export interface Shared {
  readonly store: string
  readonly redis?: string
  /** Rest of the config, as JSON. */
  readonly config: object
}

/** One gateway of several, as a separate process with a separate folder. */
export class Instance {
  readonly address: string
  private readonly child: ChildProcess
  private readonly folder: string
  private readonly output: { text: string }

  private constructor(child: ChildProcess, address: string, folder: string, output: { text: string }) {
    this.child = child
    this.address = address
    this.folder = folder
    this.output = output
  }

  static async start(shared: Shared): Promise<Instance> {
    const folder = folderWith(shared)
    const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], { cwd: folder, env: ENV })
    const output = { text: '' }
    for (const stream of [child.stdout, child.stderr]) stream!.on('data', piece => (output.text += piece))
    const address = await vi.waitFor(
      () => {
        if (child.exitCode !== null) throw new Error(`it ended: ${output.text}`)
        return /listens on (\S+)/.exec(output.text)![1]!
      },
      { timeout: 100_000, interval: 50 },
    )
    return new Instance(child, address, folder, output)
  }

  get pid(): number {
    return this.child.pid!
  }

  /** Process ids of its workers, the oldest first. */
  get workers(): readonly number[] {
    return childrenOf(this.pid)
  }

  /** Replaces the config file. */
  configure(shared: Shared): void {
    writeConfig(this.folder, shared)
  }

  /** Everything that the process wrote, including the log. */
  get written(): string {
    return this.output.text
  }

  ask(path: string, key: string, body?: unknown): Promise<Response> {
    return fetch(`${this.address}${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    })
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit')
      this.child.kill(signal)
      await ended
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Runs a command of the command line on the shared store, and returns its output. */
export async function command(shared: Shared, ...words: string[]): Promise<string> {
  const folder = folderWith(shared)
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...words], { cwd: folder, env: ENV })
    return stdout.trim()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the ids of the living child processes. */
function childrenOf(pid: number): readonly number[] {
  try {
    const text = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    return text.trim().split('\n').map(Number)
  } catch {
    return []
  }
}

function folderWith(shared: Shared): string {
  const folder = mkdtempSync(join(tmpdir(), 'instance-'))
  writeConfig(folder, shared)
  return folder
}

function writeConfig(folder: string, { store, redis, config }: Shared): void {
  const whole = { store, ...(redis === undefined ? {} : { redis }), ...config }
  writeFileSync(join(folder, 'interlingua.json'), JSON.stringify(whole))
}

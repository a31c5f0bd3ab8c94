import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../builders/time.ts'
import { type Ask, askingAt } from './ask.ts'
import { userEnv } from './checkout.ts'

/** Key of the callers, if a config has one. */
export const KEY = 'il-first-start'

/** Timeout of a start, and of a stop, in milliseconds. */
const STARTING = 120_000
const STOPPING = 60_000

/** Settings for the start, in addition to a user's environment. */
interface StartOptions {
  /** Whether the config has keys, so that none is created. */
  readonly hasKeys?: boolean
  /** A certificate to trust, in PEM. */
  readonly ca?: string
}

/** A gateway that was started by `npm start` in a checkout, with a config of its own. */
export class Started {
  readonly folder: string
  out = ''
  fault = ''
  private readonly checkout: string
  private readonly config: string
  private readonly child: ChildProcess
  private readonly ca: string | undefined
  private exit: { readonly code: number | null } | undefined

  private constructor(checkout: string, config: object, { hasKeys = true, ca }: StartOptions) {
    this.folder = mkdtempSync(join(tmpdir(), 'first-start-'))
    this.checkout = checkout
    this.config = join(this.folder, 'interlingua.json')
    this.ca = ca
    const server = { port: 0, drain: '1ms', ...('server' in config ? (config.server as object) : {}) }
    const keys = hasKeys ? { keys: [{ name: 'dev', key: KEY }], groups: { default: { models: ['*'] } } } : {}
    writeFileSync(this.config, JSON.stringify({ data_dir: join(this.folder, 'data'), ...keys, ...config, server }))
    // A process group of its own, for npm, its shell and the gateway.
    this.child = spawn('npm', this.words(), { cwd: checkout, env: userEnv(this.folder), detached: true })
    this.child.stdout!.on('data', piece => (this.out += piece))
    this.child.stderr!.on('data', piece => (this.fault += piece))
    // Not `exit`, because the last output is not read by then.
    this.child.once('close', code => (this.exit = { code }))
  }

  static async open(checkout: string, config: object, options: StartOptions = {}): Promise<Started> {
    const started = new Started(checkout, config, options)
    const isReady = () => /^Try it.*:\n.*\n/m.test(started.out) || started.exit !== undefined
    await until(isReady, STARTING).catch(() => {})
    if (started.exit === undefined && /^Try it/m.test(started.out)) return started
    await started.kill()
    throw new Error(`npm start did not start: ${started.out}${started.fault}`)
  }

  private words(...words: string[]): string[] {
    return ['start', '--silent', '--', '--config', this.config, ...words]
  }

  get address(): string {
    return /listens on (\S+)/.exec(this.out)![1]!
  }

  /** Key that the first start printed, or the key of the config. */
  get key(): string {
    return /^key +(\S+)$/m.exec(this.out)?.[1] ?? KEY
  }

  get ask(): Ask {
    return this.as(this.key)
  }

  /** Sends requests with another key, or without one. */
  as(key: string): Ask {
    return askingAt(this.address, key, this.ca)
  }

  /** Returns the output of a command of the program, with the same config. */
  command(...words: string[]): string {
    return execFileSync('npm', this.words(...words), {
      cwd: this.checkout,
      env: userEnv(this.folder),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  /** Sends requests as an administrator, with a token created as the README describes. */
  administrator(): Ask {
    return this.as(this.command('admin', 'token', 'ops').trim())
  }

  /** Returns the lines of the log. */
  lines(): { readonly [field: string]: unknown }[] {
    const lines = this.out.split('\n').slice(0, -1)
    return lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
  }

  /**
   * Ends the gateway like Ctrl-C in a terminal: the whole process group gets the signal. Rejects if faults were logged.
   */
  async stop(): Promise<void> {
    process.kill(-this.child.pid!, 'SIGINT')
    await until(() => this.exit !== undefined, STOPPING)
    const faults = this.lines().filter(({ level }) => Number(level) >= 50)
    assert.deepEqual(faults, [], 'it logged errors')
    assert.match(this.out, /"stopping"/)
  }

  /** Ends remaining processes and deletes the folder. */
  async kill(): Promise<void> {
    try {
      process.kill(-this.child.pid!, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
    await until(() => this.exit !== undefined, STOPPING)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { freePort } from '../../src/kit/conformance/free-port.ts'
import { pause } from './time.ts'

/** Whether Redis is installed on this machine. `REDIS_SERVER=none` leaves it out. */
export const HAS_REDIS = process.env['REDIS_SERVER'] !== 'none' && spawnSync('redis-server', ['--version']).status === 0

/** `describe` for tests that need Redis. Without Redis the tests are skipped, and a message is printed. */
export const describeWithRedis: (name: string, tests: () => void) => void = (name, tests) => {
  if (!HAS_REDIS) console.warn(`skipped, for there is no redis-server: ${name}`)
  describe.skipIf(!HAS_REDIS)(name, tests)
}

/** A test Redis, empty at first, on a fixed port of the loopback. */
export class RedisServer {
  readonly port: number
  readonly folder = mkdtempSync(join(tmpdir(), 'redis-'))
  private readonly options: readonly string[]
  private child: ChildProcess | undefined
  private warden: ChildProcess | undefined

  private constructor(port: number, options: readonly string[]) {
    this.port = port
    this.options = options
  }

  static async open(...options: string[]): Promise<RedisServer> {
    for (let tries = 1; ; tries++) {
      const server = new RedisServer(await freePort(), options)
      try {
        await server.start()
        return server
      } catch (thrown) {
        // Another process may have taken the port meanwhile.
        await server.close()
        if (tries === 3) throw thrown
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const words = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    this.child = spawn('redis-server', [...words, '--dir', this.folder, ...this.options], { stdio: 'ignore' })
    this.warden = wardenOf(this.child.pid!, this.folder)
    for (let tries = 0; !(await accepts(this.port)); tries++) {
      if (this.child.exitCode !== null || tries > 3000) throw new Error('redis-server does not start')
      await pause(10)
    }
  }

  /** Ends the server immediately. Its data is lost. */
  async stop(): Promise<void> {
    const { child, warden } = this
    this.child = undefined
    this.warden = undefined
    // The helper ends first, because the process id of the server may be reused.
    warden?.kill('SIGKILL')
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Stops answering until `resume`, without closing connections. */
  pause(): void {
    this.child?.kill('SIGSTOP')
  }

  resume(): void {
    this.child?.kill('SIGCONT')
  }

  async close(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Starts a helper that ends the server when its input ends, however the process that started both ended. */
function wardenOf(pid: number, folder: string): ChildProcess {
  const script = 'read -r _; kill -KILL "$0"; rm -rf "$1"'
  const warden = spawn('/bin/sh', ['-c', script, `${pid}`, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  warden.unref()
  ;(warden.stdin as unknown as { unref(): void }).unref()
  return warden
}

let shared: Promise<RedisServer> | undefined

/** The Redis that all test files of this worker share. Use separate keys, and leave it running. */
export const sharedRedis = (): Promise<RedisServer> => (shared ??= RedisServer.open())

/** Whether a server listens on a port of the loopback. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

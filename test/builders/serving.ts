import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonOf, textOf } from './http.ts'
import { ENV, MAIN } from './paths.ts'
import { until } from './time.ts'

export interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any
}

/** Key of the callers of a `Serving`, for its config. */
export const SERVING_KEY = 'dev-secret'

/** A gateway in separate processes and a separate folder. */
export class Serving {
  readonly dir = mkdtempSync(join(tmpdir(), 'serving-'))
  out = ''
  fault = ''
  exitCode: number | null | undefined
  readonly child: ChildProcess

  /** @param config content of the config file, as JSON. */
  private constructor(config: object) {
    this.write(config)
    this.child = spawn(process.execPath, [MAIN], { cwd: this.dir, env: ENV })
    this.child.stdout!.on('data', piece => (this.out += piece))
    this.child.stderr!.on('data', piece => (this.fault += piece))
    this.child.once('exit', code => (this.exitCode = code))
  }

  static async start(config: object): Promise<Serving> {
    const serving = new Serving(config)
    await until(() => /listens on \S+/.test(serving.out) || serving.exitCode !== undefined, 60_000)
    if (serving.exitCode !== undefined) throw new Error(`it ended: ${serving.fault}`)
    return serving
  }

  write(config: object): void {
    writeFileSync(join(this.dir, 'interlingua.json'), JSON.stringify(config))
  }

  get address(): string {
    return /listens on (\S+)/.exec(this.out)![1]!
  }

  /** Process ids of the workers, the oldest first. */
  get workers(): number[] {
    try {
      const text = execFileSync('pgrep', ['-P', String(this.child.pid)], { encoding: 'utf8' })
      return text.trim().split('\n').map(Number)
    } catch {
      return []
    }
  }

  /** Returns the log lines with that message. */
  lines(message: string): { readonly [field: string]: unknown }[] {
    return this.out
      .split('\n')
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line))
      .filter(({ msg }) => msg === message)
  }

  /** Sends one chat request, over a new connection unless there is an agent. Rejects if the connection breaks. */
  chat(model: string, agent: Agent | false = false): Promise<Answered> {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }] })
    const headers = { authorization: `Bearer ${SERVING_KEY}`, 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve, reject) => {
      const out = request(`${this.address}/v1/chat/completions`, { method: 'POST', agent, headers })
      out.on('error', reject).on('response', answer => {
        textOf(answer).then(text => resolve({ status: answer.statusCode!, json: jsonOf(text) }), reject)
      })
      out.end(body)
    })
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.exitCode === undefined) this.child.kill(signal)
    await until(() => this.exitCode !== undefined, 60_000)
    return this.exitCode!
  }

  async close(): Promise<void> {
    const workers = this.workers
    await this.stop('SIGKILL')
    for (const pid of workers) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // The worker ended with the primary.
      }
    }
    rmSync(this.dir, { recursive: true, force: true })
  }
}

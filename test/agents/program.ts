import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from './clients/client.ts'

export interface Ran {
  /** Exit code. Undefined if the program had to be stopped. */
  readonly code: number | undefined
  readonly out: string
  readonly err: string
  readonly seconds: number
}

/** Functions that end running clients. Clients have process groups of their own and would outlive this process. */
const running = new Set<() => void>()
process.on('exit', () => {
  for (const end of running) end()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** Runs a client once in a separate environment. After the time limit, it is stopped with all its child processes. */
export function runProgram(command: Command, home: string, work: string, seconds: number): Promise<Ran> {
  for (const [path, content] of Object.entries(command.files ?? {})) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
  const started = Date.now()
  const [program, ...args] = command.run
  const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: home, LANG: 'C.UTF-8', NO_COLOR: '1', ...command.env }
  // A process group of its own, so that all its descendants can be ended.
  const child = spawn(program, args, { cwd: work, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
  running.add(end)
  return new Promise((resolve, reject) => {
    let out = ''
    let err = ''
    let late = false
    child.stdout.setEncoding('utf8').on('data', chunk => (out += chunk))
    child.stderr.setEncoding('utf8').on('data', chunk => (err += chunk))
    const timer = setTimeout(() => {
      late = true
      end()
    }, seconds * 1000)
    child.on('error', reject)
    child.on('exit', end)
    child.on('close', code => {
      clearTimeout(timer)
      running.delete(end)
      resolve({ code: late ? undefined : (code ?? 1), out, err, seconds: (Date.now() - started) / 1000 })
    })
  })
}

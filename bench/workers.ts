import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { configOf } from './configs.ts'
import { freePort, opened, STARTED, stopped } from './setup.ts'

/** Name that selects this measurement with `--cell`. */
export const WORKERS = '1 against 2 workers, chat to messages'

const LANES = 32
/**
 * Number of requests each worker answers before it is measured. A request costs several times as much until the code is
 * compiled.
 */
const WARM = 10_000
/** Length of a round in milliseconds, and number of rounds for each side. The sides take turns. */
const ROUND = 3000
const ROUNDS = 3
/** Number of clock ticks per second in `/proc`. */
const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

interface Figures {
  /** Number of requests per second. */
  readonly rate: number
  /** CPU time per request over all processes of the gateway, in microseconds. */
  readonly cpu: number
}

interface Gateway {
  readonly workers: number
  readonly origin: string
  readonly child: ChildProcess
  readonly rounds: Figures[]
}

/**
 * Prints requests per second and CPU time per request for one process and for two workers. Load and upstream have
 * processes of their own that are not bound to a core. On a machine with two cores they compete with the workers.
 */
export async function measureWorkers(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'interlingua-bench-'))
  const log = openSync(join(dir, 'log'), 'w')
  const children: ChildProcess[] = []
  const start = (args: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', log, 'inherit'] })
    children.push(child)
    return child
  }
  try {
    const port = await freePort()
    start(['bench/stub.ts', `${port}`])
    await opened(port)
    const gateways: Gateway[] = []
    for (const workers of [1, 2]) {
      const own = await freePort()
      const config = configOf(`http://127.0.0.1:${port}`, 'http://127.0.0.1:9', own, join(dir, `data-${workers}`))
      const path = join(dir, `${workers}.json`)
      writeFileSync(path, JSON.stringify({ ...config, server: { ...config.server, workers } }))
      const child = start([...STARTED, 'serve', '--config', path])
      await opened(own)
      gateways.push({ workers, origin: `http://127.0.0.1:${own}`, child, rounds: [] })
    }
    for (const one of gateways) for (let sent = 0; sent < WARM * one.workers; sent += await sentIn(one, ROUND));
    for (let count = 0; count < ROUNDS; count++) for (const one of gateways) one.rounds.push(await round(one, ROUND))
    print(gateways)
  } finally {
    await Promise.all(children.map(stopped))
    rmSync(dir, { recursive: true })
  }
}

async function round(gateway: Gateway, milliseconds: number): Promise<Figures> {
  const before = cpuOf(gateway.child.pid!)
  const done = await sentIn(gateway, milliseconds)
  return { rate: (done * 1000) / milliseconds, cpu: (cpuOf(gateway.child.pid!) - before) / done }
}

/** Sends requests for the given time and returns how many were answered. */
function sentIn({ origin }: Gateway, milliseconds: number): Promise<number> {
  const load = spawn(process.execPath, ['bench/workers-load.ts', origin, `${LANES}`, `${milliseconds}`], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    load.once('message', count => resolve(count as number))
    load.once('exit', code => reject(new Error(`the load ended with code ${code}`)))
  })
}

/** CPU time of a process and its children, in microseconds. */
function cpuOf(pid: number): number {
  const own = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const ticks = Number(own[11]) + Number(own[12])
  return (ticks * 1e6) / TICKS + children.reduce((sum, child) => sum + cpuOf(Number(child)), 0)
}

function print(gateways: readonly Gateway[]): void {
  const cores = availableParallelism()
  console.log(`${WORKERS}: ${cores} cores${cores < 4 ? ', for which load and upstream compete' : ''}`)
  for (const { workers, rounds } of gateways) {
    const rate = middle(rounds.map(one => one.rate))
    const cpu = middle(rounds.map(one => one.cpu))
    console.log(`  ${workers} ${Math.round(rate)} requests a second, ${Math.round(cpu)} µs of CPU for one`)
  }
}

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

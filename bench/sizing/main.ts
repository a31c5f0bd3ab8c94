import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { noPostgres, startPostgres, type TestPostgres } from '../../test/builders/postgres.ts'
import { HAS_REDIS, RedisServer } from '../../test/builders/redis.ts'
import { type SlowProxy, slowProxy } from '../../test/builders/slow-proxy.ts'
import { ensureBundle } from '../bundle.ts'
import { median } from '../estimate.ts'
import { markdownTable, writeMarked } from '../marked-table.ts'
import { cpuOf, memoryOf, treeOf } from '../process-tree.ts'
import { stopped } from '../setup.ts'
import { startStub } from '../start-stub.ts'
import { DEPLOYMENTS, type Deployment, type Running, type Services, startGateways } from './gateways.ts'
import type { Done } from './load.ts'

const HELP = `Measures what a core of a gateway serves in several deployments, and how long requests take: one process, two workers,
two instances with a shared store, and with a slow Redis. All have limits of every kind, prices and usage. Load and
upstream have processes of their own on the same cores.

  npm run bench:sizing -- [options]

  --deployment TEXT   only deployments whose name has this text; may be given again
  --rounds N          starts of each deployment; 3 by default
  --table FILE        writes the table between the sizing marks of a Markdown file
  --json FILE         writes the figures, too
`

const { values: given } = parseArgs({
  options: {
    deployment: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
    table: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
})

/** Requests in flight, and the time until the code is compiled and of a measurement, in milliseconds. */
const [LANES, WARM, MEASURED] = [32, 25_000, 5000]
/** Requests a second while times are measured. */
const RATE = 100
/** Streams with 50 events a second each, and streams with one. */
const [PACED, OPEN] = [100, 1000]
/** Events a second of the streams that the table counts, as many as models write tokens. */
const TOKENS = 50

/** The figures of a deployment in one round. */
interface Figures {
  /** CPU time of a request and of an event, in microseconds. */
  readonly request: number
  readonly event: number
  /** Times to the answer at a low load, in milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Resident memory, in MB, before any request. */
  readonly idle: number
  /** Memory of an open stream, in kB. */
  readonly stream: number
}

class Measurement {
  private readonly running: Running

  constructor(running: Running) {
    this.running = running
  }

  async figures(): Promise<Figures> {
    const idle = memoryOf(this.pids)
    await this.load('requests', LANES, WARM)
    const [, request] = await this.cpuOf('requests', LANES, MEASURED)
    const { p50, p99 } = await this.load('latency', RATE, MEASURED)
    const [, event] = await this.cpuOf('paced', PACED, MEASURED)
    const before = memoryOf(this.pids)
    let after = before
    await this.load('open', OPEN, 3000, word => {
      if (word === 'done') after = memoryOf(this.pids)
    })
    return { request, event, p50, p99, idle: idle / 1e6, stream: (after - before) / 1e3 / OPEN }
  }

  private get pids(): readonly number[] {
    return this.running.children.flatMap(({ pid }) => treeOf(pid!))
  }

  /** Returns how much was done, and the CPU time of each. */
  private async cpuOf(work: string, count: number, milliseconds: number): Promise<readonly [number, number]> {
    const { pids } = this
    let [before, after] = [cpuOf(pids), 0]
    const { count: done } = await this.load(work, count, milliseconds, word => {
      if (word === 'open') before = cpuOf(pids)
      else after = cpuOf(pids)
    })
    return [done, ((after || cpuOf(pids)) - before) / done]
  }

  /** @param heard called when all streams are open, and before they are closed. */
  private load(
    work: string,
    count: number,
    milliseconds: number,
    heard: (word: string) => void = () => {},
  ): Promise<Done> {
    const args = ['bench/sizing/load.ts', work, `${count}`, `${milliseconds}`, ...this.running.origins]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    return new Promise((resolve, reject) => {
      child.on('message', message => (typeof message === 'string' ? heard(message) : resolve(message as Done)))
      child.once('exit', code => reject(new Error(`the load ended with code ${code}`)))
    })
  }
}

/** The database server, Redis and its proxies, which are started when a deployment needs them. */
class Shared {
  private postgres: Promise<TestPostgres> | undefined
  private redisServer: Promise<RedisServer> | undefined
  private readonly proxies: SlowProxy[] = []

  database = async (): Promise<string> => (await (await (this.postgres ??= startPostgres())).database()).url

  redis = async (delay: number): Promise<string> => {
    const { port, url } = await (this.redisServer ??= RedisServer.open())
    if (delay === 0) return url
    const proxy = await slowProxy(port, delay)
    this.proxies.push(proxy)
    return `redis://127.0.0.1:${proxy.port}`
  }

  async close(): Promise<void> {
    for (const proxy of this.proxies) proxy.close()
    await (await this.redisServer)?.close()
    await (await this.postgres)?.close()
  }
}

const isPossible = ({ store, redis }: Deployment): boolean => {
  const missing =
    store !== undefined && noPostgres !== undefined ? noPostgres : redis !== undefined && !HAS_REDIS && 'Redis'
  return !missing
}

const MIDDLE = (all: readonly Figures[], name: keyof Figures): number => median(all.map(figures => figures[name]))

const HEADS = [
  ...['Deployment', 'CPU of a request, µs', 'requests a second and core', 'CPU of an event, µs'],
  ...[`streams of ${TOKENS} tokens a second, per core`, 'idle, MB', 'a stream, kB', 'p50, ms', 'p99, ms'],
]

const rowOf = (name: string, all: readonly Figures[]): string[] => {
  const [request, event] = [MIDDLE(all, 'request'), MIDDLE(all, 'event')]
  return [
    ...[name, request.toFixed(0), rounded(1e6 / request), event.toFixed(1), rounded(1e6 / event / TOKENS)],
    ...[
      MIDDLE(all, 'idle').toFixed(0),
      MIDDLE(all, 'stream') > 0 ? MIDDLE(all, 'stream').toFixed(0) : '–',
      MIDDLE(all, 'p50').toFixed(1),
      MIDDLE(all, 'p99').toFixed(1),
    ],
  ]
}

/** Two digits, because the figures are no more exact. */
const rounded = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en')

async function measure(deployment: Deployment, services: Omit<Services, 'log'>): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-sizing-'))
  const running = await startGateways(deployment, folder, { ...services, log: openSync(join(folder, 'log'), 'w') })
  try {
    await sleep(1500)
    return await new Measurement(running).figures()
  } finally {
    await Promise.all(running.children.map(stopped))
    rmSync(folder, { recursive: true })
  }
}

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  ensureBundle()
  const wanted = DEPLOYMENTS.filter(({ name }) => given.deployment?.some(text => name.includes(text)) ?? true)
  for (const { name } of wanted.filter(one => !isPossible(one)))
    console.log(`WITHOUT ${name}: its programs are missing`)
  const { child, address: upstream } = await startStub(false)
  const shared = new Shared()
  const figures = new Map<string, Figures[]>(wanted.filter(isPossible).map(({ name }) => [name, []]))
  try {
    for (let round = 0; round < Number(given.rounds); round++)
      for (const deployment of wanted.filter(isPossible)) {
        const measured = await measure(deployment, { upstream, database: shared.database, redis: shared.redis })
        figures.get(deployment.name)!.push(measured)
        console.log(rowOf(deployment.name, [measured]).join('  '))
      }
  } finally {
    await stopped(child)
    await shared.close()
  }
  const table = markdownTable([
    HEADS,
    ['---', ...HEADS.slice(1).map(() => '--:')],
    ...[...figures].map(([name, all]) => rowOf(name, all)),
  ])
  console.log(`\n${availableParallelism()} cores, which load and upstream share with the gateway\n${table}`)
  if (given.table !== undefined) writeMarked(given.table, 'sizing', table)
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(Object.fromEntries(figures), null, 2)}\n`)
}

await main()

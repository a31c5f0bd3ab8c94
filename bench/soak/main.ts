import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../src/kit/conformance/free-port.ts'
import { noPostgres, startPostgres, type TestPostgres } from '../../test/builders/postgres.ts'
import { ensureBundle } from '../bundle.ts'
import { KEY } from '../configs.ts'
import { pinned, pinSelf } from '../pin.ts'
import { opened, stopped } from '../setup.ts'
import { Administrator } from './administrator.ts'
import { Callers, type Kind } from './callers.ts'
import { FORMATS, MODES, type Mode } from './calls.ts'
import {
  type Check,
  checkDelay,
  checkEndings,
  checkResources,
  checkStored,
  checkUsage,
  settled,
  Tally,
} from './checks.ts'
import { type SoakedGateway, startGateway } from './gateway.ts'
import { plot } from './plot.ts'
import { type Sample, sampleOf } from './readings.ts'

const HELP = `Runs the gateway for a long time under mixed streams, and checks at the end that nothing grew and nothing was lost.
Streams of four formats with tools, callers who leave or stop reading, upstreams that fail and break off, keys that are
created, changed and revoked, captures, and a PostgreSQL server that is killed twice. It needs PostgreSQL.

  npm run soak -- [options]

  --seconds N     length; 3600 by default
  --streams N     streams at the same time; 500 by default
  --pace N        milliseconds between two events of a stream; 100 by default
  --plot FILE     draws memory, descriptors, delays and streams as an SVG image
  --json FILE     writes the samples and the checks
  --busy          the machine does other work: how long the event loop was held up is printed, not checked
`

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3600' },
    streams: { type: 'string', default: '500' },
    pace: { type: 'string', default: '100' },
    plot: { type: 'string' },
    json: { type: 'string' },
    busy: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
})
const SECONDS = Number(given.seconds)
const STREAMS = Number(given.streams)

/** Number of samples, and shortest time between two, in milliseconds. */
const SAMPLES = 240
const BETWEEN_SAMPLES = Math.max(5000, (SECONDS * 1000) / SAMPLES)
/** Time between two changes of keys, in milliseconds. */
const BETWEEN_CHANGES = 2000
/** Shares of the time at which the store is killed, and how long it is away, in milliseconds. */
const KILLS = [1 / 3, 2 / 3]
const AWAY = Math.min(20_000, SECONDS * 20)

const CALLERS = ['chat', 'messages', 'contents', 'responses', 'stored'] as const
/** Tenths of the streams whose upstream behaves in each way. */
const TENTHS: { readonly [M in Mode]: number } = { text: 4, tools: 3, cut: 1, failing: 2 }
const MODE_OF_TENTH = MODES.flatMap(mode => Array.from({ length: TENTHS[mode] }, () => mode))

/** The kind of each stream in turn, so that all combinations occur equally often. */
const kindAt = (number: number): Kind => ({
  caller: CALLERS[number % CALLERS.length]!,
  upstream: FORMATS[Math.floor(number / CALLERS.length) % FORMATS.length]!,
  mode: MODE_OF_TENTH[Math.floor(number / (CALLERS.length * FORMATS.length)) % MODE_OF_TENTH.length]!,
})

/** Keeps the streams open until the end. */
class Lanes {
  readonly tally = new Tally()
  private number = 0
  private readonly callers: Callers
  private readonly administrator: Administrator

  constructor(callers: Callers, administrator: Administrator) {
    this.callers = callers
    this.administrator = administrator
  }

  async run(until: number): Promise<void> {
    const lanes: Promise<void>[] = []
    for (let lane = 0; lane < STREAMS; lane++) {
      lanes.push(this.lane(until))
      await sleep(4)
    }
    await Promise.all(lanes)
  }

  private async lane(until: number): Promise<void> {
    while (performance.now() < until) {
      const number = this.number++
      const kind = kindAt(number)
      // A stored response is read again at the end, with a key that still exists then.
      const key = kind.caller === 'stored' ? KEY : (this.administrator.keyAt(number) ?? KEY)
      const habit = {
        ...(number % 11 === 0 ? { abandonAfter: (number * 37) % 3000 } : {}),
        slow: number % 13 === 0,
      }
      this.tally.add(await this.callers.open(kind, key, habit))
    }
  }
}

async function killStore(postgres: TestPostgres, began: number, kills: number[]): Promise<void> {
  for (const share of KILLS) {
    await sleep(Math.max(0, began + SECONDS * 1000 * share - performance.now()))
    kills.push((performance.now() - began) / 1000)
    console.log(`The store is killed after ${kills.at(-1)!.toFixed(0)} s.`)
    await postgres.crash()
    await sleep(AWAY)
    await postgres.start()
  }
}

async function administrate(administrator: Administrator, until: number): Promise<void> {
  while (performance.now() < until) {
    await administrator.change()
    await sleep(BETWEEN_CHANGES)
  }
}

async function sampleAll(gateway: SoakedGateway, lanes: Lanes, began: number, until: number): Promise<Sample[]> {
  const samples: Sample[] = []
  let [before, at] = [0, began]
  while (performance.now() < until) {
    await sleep(BETWEEN_SAMPLES)
    const done = lanes.tally.total
    const now = performance.now()
    const rate = ((done - before) * 1000) / (now - at)
    ;[before, at] = [done, now]
    samples.push(sampleOf((now - began) / 1000, gateway.child.pid!, await gateway.read(), rate))
    if (samples.length % 12 === 1) print(samples.at(-1)!)
  }
  return samples
}

const print = ({ at, rss, heap, descriptors, delay, rate }: Sample): void =>
  console.log(
    `${`${at} s`.padStart(7)}  ${rss.toFixed(0)} MB, heap ${heap.toFixed(1)} MB, ${descriptors} descriptors, ${delay.toFixed(1)} ms, ${rate.toFixed(0)} streams a second`,
  )

async function soak(folder: string, postgres: TestPostgres, children: ChildProcess[]): Promise<boolean> {
  const port = await freePort()
  const [command, ...args] = pinned('load', [process.execPath, 'bench/soak/upstream.ts', `${port}`, given.pace])
  children.push(spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit'] }))
  await opened(port)
  const { url } = await postgres.database()
  const gateway = await startGateway(folder, `http://127.0.0.1:${port}`, url)
  children.push(gateway.child)
  const administrator = new Administrator(gateway.origin, gateway.token)
  const callers = new Callers(gateway.origin)
  const lanes = new Lanes(callers, administrator)
  const [since, began, kills] = [Date.now(), performance.now(), [] as number[]]
  const idle = sampleOf(0, gateway.child.pid!, await gateway.read(), 0)
  const until = began + SECONDS * 1000
  const [samples] = await Promise.all([
    sampleAll(gateway, lanes, began, until),
    lanes.run(until),
    administrate(administrator, until),
    killStore(postgres, began, kills),
  ])
  await callers.close()
  await settled()
  const after = sampleOf(SECONDS, gateway.child.pid!, await gateway.read(), 0)
  print(after)
  const checks: Check[] = [
    checkEndings(lanes.tally),
    ...checkResources(samples, idle, after),
    checkDelay(samples, given.busy),
    await checkStored(gateway.origin, lanes.tally.stored),
    ...(await checkUsage({ engine: 'postgres', url }, lanes.tally, since)),
  ]
  console.log(`${administrator.changes} changes of keys, ${administrator.refusals} refused while the store was away`)
  for (const { name, passed, detail } of checks) console.log(`${passed ? 'passed' : 'FAILED'}  ${name}: ${detail}`)
  if (given.plot !== undefined) writeFileSync(given.plot, plot([idle, ...samples, after], kills))
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify({ checks, kills, samples }, null, 2)}\n`)
  return checks.every(({ passed }) => passed)
}

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  ensureBundle()
  if (noPostgres !== undefined) throw new Error(`The soak needs PostgreSQL: ${noPostgres}.`)
  pinSelf()
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-soak-'))
  const children: ChildProcess[] = []
  const postgres = await startPostgres()
  try {
    if (!(await soak(folder, postgres, children))) process.exitCode = 1
  } finally {
    await Promise.all(children.map(stopped))
    await postgres.close()
    if (process.exitCode !== 1) rmSync(folder, { recursive: true })
    else console.log(`The log of the gateway is in ${folder}.`)
  }
}

await main()

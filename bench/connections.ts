import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { WebSocket } from 'ws'
import { freePort } from '../src/kit/conformance/free-port.ts'
import { ensureBundle } from './bundle.ts'
import { cellOf } from './cells.ts'
import { configOf, KEY } from './configs.ts'
import { median, percentile99 } from './estimate.ts'
import { Load, type OpenStream } from './load.ts'
import { markdownTable, writeMarked } from './marked-table.ts'
import { shotOf } from './measure.ts'
import { pinned, pinSelf } from './pin.ts'
import { memoryOf, treeOf } from './process-tree.ts'
import { opened, STARTED, stopped } from './setup.ts'

const HELP = `Opens many idle WebSockets and many slow streams at one process, and measures what each of them takes and whether anybody
has to wait.

  npm run bench:connections -- [options]

  --sockets N     idle WebSockets; 10000 by default
  --streams N     open streams of one event a second; 4900 by default, because a stream takes two of the 20,000 files that
                  many systems let a process open
  --table FILE    writes the table between the connections marks of a Markdown file
`

const { values: given } = parseArgs({
  options: {
    sockets: { type: 'string', default: '10000' },
    streams: { type: 'string', default: '4900' },
    table: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const SOCKETS = Number(given.sockets)
const STREAMS = Number(given.streams)
/** Time for which events are counted, in milliseconds, and between two events of a stream. */
const [COUNTED, INTERVAL] = [20_000, 1000]
/** Requests whose time is measured, one every so many milliseconds. */
const [PROBES, BETWEEN_PROBES] = [200, 50]
/** Connections that are opened at once. */
const BATCH = 50

function start(role: 'load' | 'proxy', log: number, args: readonly string[]): ChildProcess {
  const [command, ...all] = pinned(role, [process.execPath, ...args])
  return spawn(command!, all, { stdio: ['ignore', log, 'inherit'] })
}

async function openSocket(origin: string): Promise<WebSocket> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${KEY}` },
    perMessageDeflate: false,
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return socket
}

async function openSockets(origin: string): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = []
  while (sockets.length < SOCKETS)
    sockets.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(BATCH, SOCKETS - sockets.length) }, () => openSocket(origin)),
      )),
    )
  return sockets
}

/** Opens the streams, which count the events of each. */
async function openStreams(load: Load, events: Uint32Array): Promise<readonly OpenStream[]> {
  const streams: OpenStream[] = []
  const shot = shotOf(cellOf('open', 'memory'), { name: 'gateway' })
  for (let index = 0; index < STREAMS; index++) {
    streams.push(load.open(shot, () => void events[index]!++))
    if (index % BATCH === 0) await sleep(50)
  }
  while (events.some(count => count === 0)) await sleep(100)
  return streams
}

/** Times to whole answers in milliseconds, in ascending order. */
async function probe(load: Load): Promise<readonly number[]> {
  const shot = shotOf(cellOf('whole', 'request'), { name: 'gateway' })
  const times: number[] = []
  for (let number = 0; number < PROBES; number++) {
    const began = performance.now()
    if ((await load.one(shot)) !== 200) throw new Error('a request was refused')
    times.push(performance.now() - began)
    await sleep(BETWEEN_PROBES)
  }
  return times.toSorted((a, b) => a - b)
}

async function measure(origin: string, pid: number): Promise<readonly (readonly [string, string])[]> {
  const memory = (): number => memoryOf(treeOf(pid))
  const [load, probes] = [new Load(origin), new Load(origin)]
  await probe(probes)
  const empty = memory()
  const sockets = await openSockets(origin)
  const withSockets = memory()
  const events = new Uint32Array(STREAMS)
  const streams = await openStreams(load, events)
  await sleep(3000)
  const before = events.slice()
  const began = performance.now()
  const times = await probe(probes)
  await sleep(Math.max(0, COUNTED - (performance.now() - began)))
  const expected = (performance.now() - began) / INTERVAL
  const counts = events.map((count, index) => count - before[index]!).toSorted()
  const full = memory()
  const closed = sockets.filter(({ readyState }) => readyState !== WebSocket.OPEN).length
  for (const socket of sockets) socket.terminate()
  for (const stream of streams) stream.close()
  await Promise.all([load.close(), probes.close()])
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
  const ms = (value: number): string => `${value.toFixed(1)} ms`
  return [
    ['Memory before', mb(empty)],
    [
      `${SOCKETS} idle WebSockets`,
      `${mb(withSockets)}, ${((withSockets - empty) / SOCKETS / 1e3).toFixed(1)} kB each, ${closed} closed`,
    ],
    [
      `and ${STREAMS} streams of an event a second`,
      `${mb(full)}, ${((full - withSockets) / STREAMS / 1e3).toFixed(1)} kB each`,
    ],
    [
      'Events of the slowest and of the median stream',
      `${counts[0]} and ${counts[Math.floor(STREAMS / 2)]} of ${expected.toFixed(0)}`,
    ],
    ['Another request meanwhile, median and 99th percentile', `${ms(median(times))}, ${ms(percentile99(times))}`],
  ]
}

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  ensureBundle()
  pinSelf()
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-bench-'))
  const log = openSync(join(folder, 'log'), 'w')
  const [upstream, port] = [await freePort(), await freePort()]
  const children = [start('load', log, ['bench/stub.ts', `${upstream}`])]
  try {
    await opened(upstream)
    const data = join(folder, 'data')
    mkdirSync(data)
    const config = configOf(`http://127.0.0.1:${upstream}`, 'http://127.0.0.1:9', port, data)
    const { server } = config
    const path = join(folder, 'interlingua.json')
    const limits = { connections: SOCKETS + 1000 }
    writeFileSync(path, JSON.stringify({ ...config, server: { ...server, limits } }))
    const gateway = start('proxy', log, [...STARTED, 'serve', '--config', path])
    children.push(gateway)
    await opened(port)
    const table = markdownTable([
      ['Connections of one process', ''],
      ['---', '---'],
      ...(await measure(`http://127.0.0.1:${port}`, gateway.pid!)),
    ])
    console.log(table)
    if (given.table !== undefined) writeMarked(given.table, 'connections', table)
  } finally {
    await Promise.all(children.map(stopped))
    rmSync(folder, { recursive: true })
  }
}

await main()

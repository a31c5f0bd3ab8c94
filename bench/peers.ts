import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Peer, peerNames, readPeer } from '../src/kit/conformance/peer.ts'
import { MissingPeer, type RunningPeer, startPeer } from '../src/kit/conformance/start-peer.ts'
import { ensureBundle } from './bundle.ts'
import { median, percentile99 } from './estimate.ts'
import { CALLERS } from './formats.ts'
import { Load, type Shot } from './load.ts'
import { markdownTable, writeMarked } from './marked-table.ts'
import { LANES, PEER_CELLS, type PeerCell } from './peer-cells.ts'
import { pinSelf, pinTree } from './pin.ts'
import { cpuOf, memoryOf, treeOf } from './process-tree.ts'
import { stopped } from './setup.ts'
import { startStub } from './start-stub.ts'

const HELP = `Measures the CPU time of gateways beside each other on one core: this one, and those of the conformance kit's peers that
are installed (docs/conformance-kit.md). Each is started anew for every round, as the kit configures it, with the same
load and the same upstream. A figure is the median over the rounds.

  npm run bench:peers -- [options]

  --peer NAME     only this peer; may be given again
  --cell TEXT     only cells whose name has this text; may be given again
  --rounds N      processes of each gateway; 5 by default
  --seconds N     length of one measurement; 2 by default
  --json FILE     writes the figures, too
  --table FILE    writes the table between the peers marks of a Markdown file
  --summary FILE  the same, with the rows of Messages to Chat Completions alone
`

const { values: given } = parseArgs({
  options: {
    peer: { type: 'string', multiple: true },
    cell: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string' },
    table: { type: 'string' },
    summary: { type: 'string' },
    help: { type: 'boolean' },
  },
})

const DURATION = Number(given.seconds) * 1000
/** A gateway that compiles its code while it runs does so for longer than a measurement takes. */
const WARM_UP = 3 * DURATION
const CELLS = PEER_CELLS.filter(({ name }) => given.cell?.some(text => name.includes(text)) ?? true)

/** Requests that are sent one after another to measure how long each takes. */
const TIMED = 300

/** The figures of one gateway. */
interface Figures {
  readonly title: string
  /** CPU time by the name of the cell, in microseconds. */
  readonly cells: Map<string, number[]>
  /** Median and 99th percentile of the time of a request by the name of the cell, in milliseconds. */
  readonly times: Map<string, (readonly [p50: number, p99: number])[]>
  /** Memory at the end, in bytes. */
  readonly memory: number[]
}

/** Measures one gateway with new processes, one for each kind of answer, which its config addresses. */
async function measurePeer(peer: Peer, figures: Figures, upstream: string): Promise<string> {
  let title = peer.title
  for (const mode of ['whole', 'burst-500'] as const) {
    const cells = CELLS.filter(cell => cell.mode === mode && peer.upstreams[cell.caller]?.includes(cell.upstream))
    if (cells.length === 0) continue
    const running = await startPeer(peer, stubAt(`${upstream}/${mode}`))
    pinTree('proxy', treeOf(running.pid))
    title = `${peer.title} ${running.target.version ?? ''}`.trim()
    try {
      for (const cell of cells) await measureCell(cell, running, figures)
      figures.memory.push(memoryOf(treeOf(running.pid)))
    } finally {
      await running.close()
    }
  }
  return title
}

async function measureCell(cell: PeerCell, { target, pid }: RunningPeer, figures: Figures): Promise<void> {
  const load = new Load(new URL(target.bases[cell.caller]!).origin)
  const shot = shotOf(cell, target)
  const { status, text } = await load.text(shot)
  const events = cell.mode === 'burst-500' ? 500 : 0
  const received = text.split('statistics').length - 1
  if (status !== 200 || received < events) {
    console.log(
      `${target.name}: ${cell.name}: status ${status}, ${received} of ${events} events: ${text.slice(0, 200)}`,
    )
    return load.close()
  }
  await load.many(shot, LANES, WARM_UP)
  const pids = treeOf(pid)
  const before = cpuOf(pids)
  const done = await load.many(shot, LANES, DURATION)
  const cpu = cpuOf(pids) - before
  const all = figures.cells.get(cell.name) ?? []
  figures.cells.set(cell.name, [...all, cpu / done / Math.max(1, events)])
  if (events === 0) {
    const sorted = await load.times(shot, TIMED)
    const times = [median(sorted), percentile99(sorted)] as const
    figures.times.set(cell.name, [...(figures.times.get(cell.name) ?? []), times])
  }
  await load.close()
}

/** The address of the stub's answers of one kind, as the kit's upstream states its own. */
const stubAt = (root: string) => ({
  root,
  base: (format: string) => (format === 'messages' || format === 'contents' ? root : `${root}/v1`),
  origin: async () => root,
})

function shotOf({ caller, upstream, mode }: PeerCell, target: RunningPeer['target']): Shot {
  const format = CALLERS[caller]
  const streams = mode !== 'whole'
  const model = target.model(upstream)
  return {
    path: format.path(model, streams),
    headers: { ...format.headers, ...target.headers?.(upstream), authorization: `Bearer ${target.key}` },
    body: JSON.stringify(format.body(model, streams, undefined)),
  }
}

const figureOf = (values: readonly number[] | undefined): string => {
  if (values === undefined) return '–'
  const value = median(values)
  return value.toFixed(value < 20 ? 1 : 0)
}

/** The rows of CPU times, then further rows, and the memory. */
function tableOf(all: readonly Figures[], cells: readonly PeerCell[], further: readonly (readonly string[])[]): string {
  return markdownTable([
    ['CPU in µs per request or token, unless stated', ...all.map(({ title }) => title)],
    ['---', ...all.map(() => '--:')],
    ...cells.map(({ name }) => [name, ...all.map(one => figureOf(one.cells.get(name)))]),
    ...further,
    ['Memory afterwards, in MB', ...all.map(({ memory }) => figureOf(memory.map(bytes => bytes / 1e6)))],
  ])
}

/** Rows of the times of requests that are sent one after another. */
const timesOf = (all: readonly Figures[]): readonly (readonly string[])[] =>
  CELLS.filter(({ mode }) => mode === 'whole').flatMap(({ name }) =>
    (['median', '99th percentile'] as const).map((figure, index) => [
      `${name}, one at a time: ${figure}, in ms`,
      ...all.map(({ times }) => figureOf(times.get(name)?.map(pair => pair[index]!))),
    ]),
  )

const isInSummary = ({ caller, upstream }: PeerCell): boolean => caller === 'messages' && upstream === 'chat'

/** The peers that translate: a plain proxy of the kit serves other purposes. */
const isGateway = ({ translates }: Peer): boolean => translates

async function main(): Promise<void> {
  if (given.help) return console.log(HELP)
  ensureBundle()
  if (!pinSelf()) console.log('No cores to pin to: the figures are less exact.')
  const { child, address } = await startStub()
  const peers = (given.peer ?? peerNames()).map(readPeer).filter(isGateway)
  const figures = new Map<Peer, Figures>()
  for (let round = 0; round < Number(given.rounds); round++)
    for (const peer of peers) {
      const before = figures.get(peer) ?? { title: peer.title, cells: new Map(), times: new Map(), memory: [] }
      try {
        figures.set(peer, { ...before, title: await measurePeer(peer, before, address) })
      } catch (thrown) {
        if (!(thrown instanceof MissingPeer)) throw thrown
        if (round === 0) console.log(`WITHOUT ${thrown.message}`)
      }
    }
  await stopped(child)
  const all = [...figures.values()]
  const table = tableOf(all, CELLS, timesOf(all))
  console.log(table)
  if (given.table !== undefined) writeMarked(given.table, 'peers', table)
  if (given.summary !== undefined) writeMarked(given.summary, 'peers', tableOf(all, CELLS.filter(isInSummary), []))
  if (given.json !== undefined)
    writeFileSync(
      given.json,
      `${JSON.stringify(
        all.map(({ title, cells, times, memory }) => ({
          ...{ title, memory },
          ...{ cells: Object.fromEntries(cells), times: Object.fromEntries(times) },
        })),
        null,
        2,
      )}\n`,
    )
}

await main()

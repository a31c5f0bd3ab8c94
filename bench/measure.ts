import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell, Kind } from './cells.ts'
import { KEY } from './configs.ts'
import { CALLERS, type CalledFormat, UPSTREAMS } from './formats.ts'
import { Load, type Shot } from './load.ts'
import { runSessions, type Sessions } from './sessions.ts'
import type { Setup, Side } from './setup.ts'

/** The length of a measurement, in milliseconds and rounds. */
export interface Effort {
  readonly rounds: number
  readonly round: number
  /** How long the bare proxy runs before it is measured. */
  readonly warm: number
  /** Streams open at once where they are paced, and where memory is measured. */
  readonly paced: number
  readonly open: number
  /** Realtime sessions at once. */
  readonly sessions: number
}

/** One side's figure of a round, with requests per second where they are counted. */
interface Figure {
  readonly value: number
  readonly rate?: number
}

export interface Outcome {
  readonly cell: Cell
  readonly unit: string
  /** Of the first of the cell's sides, and of the second. */
  readonly reference: number
  readonly measured: number
  /** The median of the rounds' ratios, each of two runs next to each other. */
  readonly ratio: number
  readonly rates?: { readonly reference: number; readonly measured: number }
}

/** How much longer the gateway takes to warm up than the bare proxy: it has more code to compile. */
const MORE_CODE = 4
/** An image of 75 kB is 100 kB in base64. */
const IMAGE = Buffer.alloc(75_000, 'interlingua').toString('base64')

const UNITS: { readonly [K in Kind]: string } = {
  request: 'µs CPU/request',
  event: 'µs CPU/event',
  paced: 'µs CPU/event',
  'first-byte': 'µs CPU/stream',
  memory: 'MB',
  session: 'µs CPU/message',
  'session-p50': 'ms',
  'session-p99': 'ms',
}

/**
 * Measures one cell: its two sides in turn, round by round, after both are warm. The bare proxy carries the upstream's
 * format, a gateway the caller's.
 *
 * @throws Error where the gateway does not answer correctly.
 */
export async function measure(cell: Cell, setup: Setup, effort: Effort): Promise<Outcome> {
  if (!cell.kind.startsWith('session')) {
    for (const name of cell.sides) await probe(cell, setup.side(name))
  }
  const sides = cell.sides.map(name => ({
    proxy: setup.side(name),
    load: new Load(setup.side(name).origin),
    figures: [] as Figure[],
  }))
  const run = RUNS[cell.kind]
  for (const { proxy, load } of sides)
    await run(cell, proxy, load, { ...effort, round: proxy.name === 'bare' ? effort.warm : effort.warm * MORE_CODE })
  for (let round = 0; round < effort.rounds; round++)
    for (const { proxy, load, figures } of sides) figures.push(await run(cell, proxy, load, effort))
  for (const { load } of sides) await load.close()
  const [reference, measured] = sides.map(({ figures }) => figures) as [Figure[], Figure[]]
  const middle = (figures: readonly Figure[]) => median(figures.map(({ value }) => value))
  const rate = (figures: readonly Figure[]) => median(figures.map(({ rate }) => rate ?? 0))
  return {
    cell,
    unit: UNITS[cell.kind],
    reference: middle(reference),
    measured: middle(measured),
    ratio: median(measured.map(({ value }, round) => value / reference[round]!.value)),
    ...(reference[0]?.rate === undefined ? {} : { rates: { reference: rate(reference), measured: rate(measured) } }),
  }
}

type Run = (cell: Cell, proxy: Side, load: Load, effort: Effort) => Promise<Figure>

const perRequest: Run = async (cell, proxy, load, { round }) => {
  const before = await proxy.read()
  const began = performance.now()
  const done = await load.many(shotOf(cell, proxy), cell.lanes, round)
  const rate = (done * 1000) / (performance.now() - began)
  if (cell.later !== undefined) await sleep(cell.later)
  const { cpu } = await proxy.read()
  return { value: (cpu - before.cpu) / done, rate }
}

const perEvent: Run = async (cell, proxy, load, effort) => {
  const { value, rate } = await perRequest(cell, proxy, load, effort)
  return { value: value / cell.events, rate: rate! * cell.events }
}

/** CPU while many streams send an event now and then: opened one by one, so that their events do not coincide. */
const paced: Run = async (cell, proxy, load, { round, paced }) => {
  const streams = []
  for (let index = 0; index < paced; index++) {
    streams.push(load.open(shotOf(cell, proxy), () => {}))
    await sleep(3)
  }
  await sleep(300)
  const before = await proxy.read()
  const began = performance.now()
  await sleep(round * 2)
  const { cpu } = await proxy.read()
  const events = ((performance.now() - began) / 20) * paced
  for (const stream of streams) stream.close()
  await sleep(200)
  return { value: (cpu - before.cpu) / events }
}

/** Resident memory while many streams are open that send an event a second. */
const memory: Run = async (cell, proxy, load, { open }) => {
  const streams = []
  for (let index = 0; index < open; index++) {
    streams.push(load.open(shotOf(cell, proxy), () => {}))
    if (index % 20 === 0) await sleep(20)
  }
  await sleep(3000)
  const { rss } = await proxy.read()
  for (const stream of streams) stream.close()
  await sleep(500)
  return { value: rss / 1e6 }
}

const sessions =
  (figure: (run: Sessions) => number): Run =>
  async (cell, proxy, _, effort) => ({
    value: figure(await runSessions(cell, proxy, effort.sessions, effort.round * 2)),
  })

const RUNS: { readonly [K in Kind]: Run } = {
  request: perRequest,
  event: perEvent,
  paced,
  // Streams of one event, many at once: the time of one alone would be that of code which is not in the caches.
  'first-byte': perRequest,
  memory,
  session: sessions(({ cpu }) => cpu),
  'session-p50': sessions(({ p50 }) => p50),
  'session-p99': sessions(({ p99 }) => p99),
}

/** The request for a proxy: in the caller's format for the gateway, in the upstream's for the bare one. */
export function shotOf({ caller, upstream, mode, image, kind }: Cell, { name }: Pick<Side, 'name'>): Shot {
  const format: CalledFormat = name === 'bare' ? UPSTREAMS[upstream] : CALLERS[caller]
  const streams = kind !== 'request'
  const model = `${upstream}-${mode}`
  const path = format.path(model, streams)
  const form = format.form?.(model)
  return {
    path: name === 'bare' ? `/${mode}${path}` : path,
    headers: {
      ...format.headers,
      authorization: `Bearer ${KEY}`,
      ...(form === undefined ? {} : { 'content-type': form.contentType }),
    },
    body: form?.bytes ?? JSON.stringify(format.body(model, streams, image ? IMAGE : undefined)),
  }
}

/** Sends one request and checks that the answer is complete. */
async function probe(given: Cell, side: Side): Promise<void> {
  const cell: Cell = given.events > 0 || given.kind === 'request' ? given : { ...given, mode: 'few', events: 10 }
  const load = new Load(side.origin)
  const { status, text } = await load.text(shotOf(cell, side))
  await load.close()
  if (status !== 200) throw new Error(`status ${status}: ${text.slice(0, 300)}`)
  const received = text.split('statistics').length - 1
  if (received < cell.events) throw new Error(`${received} of ${cell.events} events came through: ${text.slice(-300)}`)
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cell, Kind } from './cells.ts'
import { KEY } from './configs.ts'
import { type Estimate, estimate, median } from './estimate.ts'
import { CALLERS, type CalledFormat, UPSTREAMS } from './formats.ts'
import { Load, type Shot } from './load.ts'
import { runSessions, type Sessions } from './sessions.ts'
import type { Setup, Side } from './setup.ts'

/** Length of a measurement, in milliseconds, processes and rounds. */
export interface Effort {
  /** Number of processes of each side, one pair after another. */
  readonly pairs: number
  /** Number of rounds of each process. */
  readonly rounds: number
  readonly round: number
  /** Length of a round before anything is measured, and the longest time of all such rounds, in milliseconds. */
  readonly warm: number
  readonly longestWarm: number
  /** Number of open streams in the cells for paced events and for memory. */
  readonly paced: number
  readonly open: number
  /** Number of simultaneous realtime sessions. */
  readonly sessions: number
}

/** Result of one side in one round, with requests per second if the cell counts them. */
interface Figure {
  readonly value: number
  readonly rate?: number
}

/** Results of the two sides of a cell, one after the other: the reference, then the side measured against it. */
export interface Pair {
  readonly reference: Figure
  readonly measured: Figure
}

export interface Outcome {
  readonly cell: Cell
  readonly unit: string
  /** Medians of the first side of the cell, then of the second. */
  readonly reference: number
  readonly measured: number
  /** What the cell's floor and goal are about: the ratio of the two sides, or what the second costs more. */
  readonly difference: Estimate
  readonly rates?: { readonly reference: number; readonly measured: number }
}

/** Kinds whose rounds have so many requests that their code is compiled before a measurement. */
const COMPILED: ReadonlySet<Kind> = new Set(['request', 'event', 'first-byte'])
/** Number of rounds that are compared with as many earlier ones, and the ratio from which code counts as compiled. */
const COMPARED = 3
const STEADY = 0.95
/** An image of 75 kB, which is 100 kB in base64. */
const IMAGE = Buffer.alloc(75_000, 'interlingua').toString('base64')

const UNITS: { readonly [K in Kind]: string } = {
  request: 'µs CPU/request',
  event: 'µs CPU/event',
  paced: 'µs CPU/event',
  'first-byte': 'µs CPU/stream',
  'first-byte-time': 'ms',
  memory: 'MB',
  session: 'µs CPU/message',
  'session-p50': 'ms',
  'session-p99': 'ms',
}

/**
 * Measures one cell with one process of each side. After both sides are warm, they run in turn, round by round. The
 * bare proxy receives the upstream's format, the gateway the caller's.
 *
 * @returns one pair for each round.
 * @throws Error if the gateway answers incorrectly.
 */
export async function measure(cell: Cell, setup: Setup, effort: Effort): Promise<Pair[]> {
  if (!cell.kind.startsWith('session')) {
    for (const name of cell.sides) await probe(cell, setup.side(name))
  }
  const sides = cell.sides.map(name => ({
    proxy: setup.side(name),
    load: new Load(setup.side(name).origin),
    figures: [] as Figure[],
  }))
  const run = RUNS[cell.kind]
  for (const { proxy, load } of sides) await warmUp(cell, round => run(cell, proxy, load, { ...effort, round }), effort)
  for (let round = 0; round < effort.rounds; round++)
    for (const { proxy, load, figures } of sides) figures.push(await run(cell, proxy, load, effort))
  for (const { load } of sides) await load.close()
  const [reference, measured] = sides.map(({ figures }) => figures) as [Figure[], Figure[]]
  return measured.map((figure, round) => ({ reference: reference[round]!, measured: figure }))
}

/**
 * Runs rounds until they no longer become cheaper, or until the time is over: a process compiles its code again and again
 * for the first hundred thousand requests.
 */
async function warmUp(
  cell: Cell,
  run: (round: number) => Promise<Figure>,
  { warm, longestWarm }: Effort,
): Promise<void> {
  if (!COMPILED.has(cell.kind)) return void (await run(3 * warm))
  const values: number[] = []
  const end = performance.now() + longestWarm
  do values.push((await run(warm)).value)
  while (performance.now() < end && !isSteady(values))
}

function isSteady(values: readonly number[]): boolean {
  if (values.length < 2 * COMPARED) return false
  const [before, now] = [values.slice(-2 * COMPARED, -COMPARED), values.slice(-COMPARED)]
  return median(now) >= STEADY * median(before)
}

/** Returns the pair in the middle of the rounds of two processes, as one sample. */
export const middleOf = (rounds: readonly Pair[]): Pair => ({
  reference: middleFigure(rounds.map(({ reference }) => reference)),
  measured: middleFigure(rounds.map(({ measured }) => measured)),
})

/** Estimates the difference of a cell's sides from all of its pairs. */
export function outcomeOf(cell: Cell, pairs: readonly Pair[]): Outcome {
  const [reference, measured] = [pairs.map(pair => pair.reference), pairs.map(pair => pair.measured)].map(middleFigure)
  const differences = pairs.map(({ reference: { value: less }, measured: { value: more } }) =>
    cell.by === 'added' ? more - less : more / less,
  )
  return {
    cell,
    unit: UNITS[cell.kind],
    reference: reference!.value,
    measured: measured!.value,
    difference: estimate(differences),
    ...(reference!.rate === undefined ? {} : { rates: { reference: reference!.rate, measured: measured!.rate! } }),
  }
}

const middleFigure = (figures: readonly Figure[]): Figure => ({
  value: median(figures.map(({ value }) => value)),
  ...(figures[0]?.rate === undefined ? {} : { rate: median(figures.map(({ rate }) => rate!)) }),
})

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

/**
 * Measures CPU time while many streams each send an event from time to time. The streams are opened one by one so that
 * their events do not coincide.
 */
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

/** Measures the median time to the first byte of streams that come one after another, with a pause between them. */
const firstByteTime: Run = async (cell, proxy, load, { paced: count }) => {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    times.push(await load.firstByte(shotOf(cell, proxy)))
    await sleep(5)
  }
  return { value: median(times) }
}

/** Measures resident memory while many open streams send one event per second each. */
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
  // Many streams of one event run at the same time. A single one would measure how long code takes that is not in the
  // CPU caches.
  'first-byte': perRequest,
  'first-byte-time': firstByteTime,
  memory,
  session: sessions(({ cpu }) => cpu),
  'session-p50': sessions(({ p50 }) => p50),
  'session-p99': sessions(({ p99 }) => p99),
}

/** Request for one side: in the caller's format for the gateway, in the upstream's format for the bare proxy. */
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

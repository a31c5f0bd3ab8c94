import type { CallerFormat, UpstreamFormat } from './formats.ts'
import type { SideName } from './setup.ts'

/** What a cell measures. The functions are in measure.ts. */
export type Kind =
  | 'request'
  | 'event'
  | 'paced'
  | 'first-byte'
  | 'first-byte-time'
  | 'memory'
  | 'session'
  | 'session-p50'
  | 'session-p99'

/** One measured kind of work. */
export interface Cell {
  readonly name: string
  readonly kind: Kind
  readonly caller: CallerFormat
  readonly upstream: UpstreamFormat
  /** Kind of answer the upstream gives: one of the modes of the stub. */
  readonly mode: string
  /** Number of events in one answer, for cells that count events. */
  readonly events: number
  readonly image: boolean
  /** Number of requests in flight. */
  readonly lanes: number
  /** What is compared: the ratio of the two sides, or what the second costs more, in the cell's unit. */
  readonly by: 'ratio' | 'added'
  /** Required difference, and the difference to aim for. */
  readonly floor: number
  readonly goal: number
  /** The two sides that are compared: first the reference, then the side that is measured against it. */
  readonly sides: readonly [SideName, SideName]
  /**
   * Time after a round during which CPU still counts, in milliseconds. Usage that is written in batches is written in
   * this time.
   */
  readonly later?: number
}

/** Without `sides`, a ratio compares the gateway with the bare proxy. */
export const AGAINST_BARE: Cell['sides'] = ['bare', 'gateway']

/**
 * Settings of each kind of work. Only a few large bodies are in flight because the bare proxy holds each of them in
 * memory.
 */
const WORK = {
  'whole native': { kind: 'request', mode: 'whole', events: 0, image: false, floor: 1.7, goal: 1.4 },
  whole: { kind: 'request', mode: 'whole', events: 0, image: false, floor: 1.9, goal: 1.7 },
  'whole stored': { kind: 'request', mode: 'whole', events: 0, image: false, floor: 3.0, goal: 2.2 },
  image: { kind: 'request', mode: 'whole', events: 0, image: true, floor: 2.0, goal: 1.6 },
  'burst of 500': { kind: 'event', mode: 'burst-500', events: 500, image: false, floor: 0.9, goal: 0.7 },
  'burst of 100': { kind: 'event', mode: 'burst-100', events: 100, image: false, floor: 1.1, goal: 0.8 },
  'at once': { kind: 'event', mode: 'once-500', events: 500, image: false, floor: 4.5, goal: 3.0 },
  'paced native': { kind: 'paced', mode: 'paced-50', events: 0, image: false, floor: 1.3, goal: 1.1 },
  paced: { kind: 'paced', mode: 'paced-50', events: 0, image: false, floor: 1.5, goal: 1.3 },
  'first byte': { kind: 'first-byte', mode: 'one', events: 0, image: false, floor: 2.0, goal: 1.6 },
  'first byte, time': { kind: 'first-byte-time', mode: 'one', events: 0, image: false, floor: 1.2, goal: 1.1 },
  memory: { kind: 'memory', mode: 'open', events: 0, image: false, floor: 1.3, goal: 1.2 },
  '100 inputs': { kind: 'request', mode: 'whole', events: 0, image: false, lanes: 8, floor: 2.4, goal: 1.8 },
  '10 MB edit': { kind: 'request', mode: 'whole', events: 0, image: false, lanes: 4, floor: 2.4, goal: 1.8 },
  '25 MB form': { kind: 'request', mode: 'whole', events: 0, image: false, lanes: 4, floor: 2.4, goal: 1.8 },
} as const satisfies {
  readonly [work: string]: Omit<Cell, 'name' | 'caller' | 'upstream' | 'lanes' | 'sides' | 'by'> &
    Partial<Pick<Cell, 'lanes'>>
}

const LANES = 32

const PAIRS = {
  'chat to chat': ['chat', 'chat'],
  'chat to messages': ['chat', 'messages'],
  'messages to messages': ['messages', 'messages'],
  'messages to chat': ['messages', 'chat'],
  'messages to contents': ['messages', 'contents'],
  'contents to chat': ['contents', 'chat'],
  'responses to chat': ['responses', 'chat'],
  'stored responses to chat': ['stored', 'chat'],
  embeddings: ['embeddings', 'embeddings'],
  images: ['images', 'images'],
  transcriptions: ['transcriptions', 'transcriptions'],
} as const satisfies { readonly [pair: string]: readonly [CallerFormat, UpstreamFormat] }

const MEASURED: { readonly [pair in keyof typeof PAIRS]: readonly (keyof typeof WORK)[] } = {
  'chat to chat': ['whole native', 'image', 'burst of 500', 'burst of 100', 'at once', 'paced native', 'first byte'],
  'chat to messages': ['whole', 'image', 'burst of 500', 'burst of 100', 'at once', 'paced', 'first byte', 'memory'],
  'messages to messages': ['whole native', 'image', 'burst of 500', 'paced native'],
  'messages to chat': ['whole', 'image', 'burst of 500', 'burst of 100', 'at once', 'paced', 'first byte'],
  'messages to contents': ['whole', 'image', 'burst of 500', 'burst of 100', 'at once'],
  'contents to chat': ['whole', 'image', 'burst of 500', 'burst of 100', 'at once'],
  'responses to chat': ['whole', 'burst of 500', 'burst of 100', 'at once'],
  'stored responses to chat': ['whole stored', 'burst of 500'],
  embeddings: ['100 inputs'],
  images: ['10 MB edit'],
  transcriptions: ['25 MB form'],
}

/**
 * Sessions of realtime voice. Some frames pass unchanged. Others use the event names of the beta API and are
 * translated.
 */
const SESSIONS: readonly Cell[] = (
  [
    ['relayed', 2.0, 1.5],
    ['translated', 3.0, 2.0],
  ] as const
).flatMap(([mode, floor, goal]) =>
  (['session', 'session-p50', 'session-p99'] as const).map(kind => ({
    ...{ name: `realtime ${mode}, ${kind}`, kind, mode, floor, goal, events: 0, image: false, lanes: 1, by: 'ratio' },
    ...({ caller: 'chat', upstream: 'chat', sides: AGAINST_BARE } as const),
  })),
)

const REQUESTS: readonly Cell[] = (Object.keys(PAIRS) as (keyof typeof PAIRS)[]).flatMap(pair => {
  const [caller, upstream] = PAIRS[pair]
  return MEASURED[pair].map(work => ({
    name: `${pair}, ${work}`,
    caller,
    upstream,
    sides: AGAINST_BARE,
    by: 'ratio' as const,
    lanes: LANES,
    ...WORK[work],
  }))
})

/** Time until all rows of a round are written, in milliseconds. */
const WRITTEN = 1500

/** What one gateway costs more than another whose config lacks something. */
interface Addition extends Pick<Cell, 'sides' | 'by' | 'floor' | 'goal' | 'later'> {
  readonly name: string
  readonly pair: keyof typeof PAIRS
  readonly work: keyof typeof WORK
}

const LIMITED: Pick<Addition, 'name' | 'sides' | 'later'> = {
  name: 'limits and usage against none',
  sides: ['plain', 'limited'],
  later: WRITTEN,
}

const ADDITIONS: readonly Addition[] = [
  { ...LIMITED, pair: 'chat to messages', work: 'whole', by: 'added', floor: 8, goal: 8 },
  { ...LIMITED, pair: 'responses to chat', work: 'whole', by: 'added', floor: 8, goal: 8 },
  { ...LIMITED, pair: 'chat to messages', work: 'paced', by: 'added', floor: 1, goal: 0.5 },
  { ...LIMITED, pair: 'chat to messages', work: 'memory', by: 'ratio', floor: 1.05, goal: 1.05 },
  {
    ...{ name: 'unused pools, affinity and fallbacks against none', sides: ['gateway', 'unused'] },
    ...({ pair: 'chat to messages', work: 'whole', by: 'added', floor: 1, goal: 0.5 } as const),
  },
  {
    ...{ name: 'signed (AWS) against a bearer', sides: ['bearer', 'signed'] },
    ...({ pair: 'chat to messages', work: 'whole', by: 'added', floor: 60, goal: 30 } as const),
  },
]

const ADDED: readonly Cell[] = ADDITIONS.map(({ name, pair, work, ...others }) => {
  const [caller, upstream] = PAIRS[pair]
  return { caller, upstream, lanes: LANES, ...WORK[work], ...others, name: `${name}: ${pair}, ${work}` }
})

/** Compares a key whose requests are recorded with one whose requests are not. */
const RECORDED: readonly Cell[] = (['chat to chat', 'chat to messages'] as const).map(pair => {
  const [caller, upstream] = PAIRS[pair]
  const work = WORK['first byte, time']
  return {
    ...{ name: `recorded against not: ${pair}, first byte, time`, caller, upstream, lanes: 1, ...work },
    ...({ sides: ['gateway', 'recorded'], by: 'ratio' } as const),
  }
})

export const CELLS: readonly Cell[] = [...REQUESTS, ...SESSIONS, ...ADDED, ...RECORDED]

/** Cell of a measurement that compares nothing: Chat Completions before a Messages upstream. */
export const cellOf = (mode: string, kind: Kind): Cell => ({
  ...{ name: mode, kind, caller: 'chat', upstream: 'messages', mode },
  ...{ events: 0, image: false, lanes: 1, floor: 0, goal: 0, by: 'ratio', sides: AGAINST_BARE },
})

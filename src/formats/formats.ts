import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { Work } from '../canonical/work.ts'
import type { AuthStyle } from './auth.ts'

/** Facts about a wire format that hold for every vendor. */
export interface FormatFacts {
  /** The work an upstream of this format can do, what it is made for first. */
  readonly does: readonly Work[]
  /** The version is part of the base address (`…/v1`), or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
  /** Where its upstreams list their models; at `/models` where that is absent. */
  readonly listing?: Omit<WireRequest, 'body'>
  /** Its upstreams make one image in a request. */
  readonly singleImage?: true
  /** The field of a request by which its inputs are embedded as one text, and so cannot be sent apart. */
  readonly jointInputs?: string
  /** The spelling of a request whose stream reports its usage, where that is on demand. */
  readonly usageOnDemand?: JsonObject
}

const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** Every format an upstream can be asked in, a row each. */
export const FORMATS: ReadonlyMap<Format, FormatFacts> = new Map<Format, FormatFacts>([
  [
    'chat',
    {
      ...openai('conversation', 'completion', 'transcription'),
      usageOnDemand: { stream_options: { include_usage: true } },
    },
  ],
  ['responses', { ...openai('conversation', 'completion', 'count', 'compaction', 'image'), singleImage: true }],
  [
    'messages',
    {
      does: ['conversation', 'completion', 'count'],
      versioned: 'path',
      auth: 'x-api-key',
      listing: { path: '/v1/models', query: { limit: '1000' }, headers: { 'anthropic-version': '2023-06-01' } },
    },
  ],
  [
    'contents',
    {
      does: ['conversation', 'completion', 'count', 'embedding', 'image', 'speech', 'transcription'],
      versioned: 'path',
      auth: 'x-goog-api-key',
      listing: { path: '/v1beta/models', query: { pageSize: '1000' }, headers: {} },
      singleImage: true,
    },
  ],
  ['completions', openai('completion')],
  ['embeddings', { ...openai('embedding'), jointInputs: 'late_chunking' }],
  ['rerank', openai('ranking')],
  [
    'cohere',
    {
      does: ['ranking', 'embedding'],
      versioned: 'path',
      auth: 'bearer',
      listing: { path: '/v1/models', query: { page_size: '1000' }, headers: {} },
    },
  ],
  ['images', openai('image')],
  ['speech', openai('speech')],
  ['transcriptions', openai('transcription')],
  ['videos', openai('video')],
  ['veo', { does: ['video'], versioned: 'path', auth: 'x-goog-api-key' }],
  ['kling', { does: ['video'], versioned: 'path', auth: 'jwt' }],
  ['realtime', openai('realtime')],
  ['live', { does: ['realtime'], versioned: 'path', auth: 'x-goog-api-key' }],
  ['elevenlabs', { does: ['speech', 'transcription'], versioned: 'path', auth: 'xi-api-key' }],
  ['deepgram', { does: ['transcription'], versioned: 'path', auth: 'token' }],
])

/**
 * Work the gateway can do itself out of another: documents are ranked by their vectors, tokens are estimated, a
 * conversation is compacted by a summary, a realtime session is a transcription, a conversation and a speech in turn.
 */
const EMULATIONS: { readonly [W in Work]?: Work } = {
  ranking: 'embedding',
  count: 'conversation',
  compaction: 'conversation',
  realtime: 'conversation',
}

/** How well a format does a kind of work; undefined where it cannot, smaller is better. */
export type Fitness = 'made-for-it' | 'able' | 'emulated'

/**
 * Whether, and how, an upstream of the format can do the work; an unknown format does nothing. A dialect declares work
 * that its vendor lacks: `compaction: false`.
 */
export function fitnessOf(format: Format, work: Work, dialect: JsonObject = {}): Fitness | undefined {
  const does = FORMATS.get(format)?.does ?? []
  const lacks = dialect[work] === false
  if (does[0] === work && !lacks) return 'made-for-it'
  if (does.includes(work) && !lacks) return 'able'
  // Tokens are estimated whatever the upstream does.
  if (work === 'count' && FORMATS.has(format)) return 'emulated'
  const basis = EMULATIONS[work]
  return basis !== undefined && does.includes(basis) ? 'emulated' : undefined
}

/** Whether the upstream itself does the work. */
export const isDirect = (fitness: Fitness | undefined): boolean => fitness !== undefined && fitness !== 'emulated'

/** The first format that is made for the work: answers to requests of the gateway itself are written in it. */
export function formatMadeFor(work: Work): Format {
  for (const [format, { does }] of FORMATS) if (does[0] === work) return format
  throw new Error(`No format is made for ${work}.`)
}

/** The version at the end of an address. */
export const VERSION = /\/v\d+[a-z0-9]*$/

/**
 * The base address of one format, from the one address an operator wrote for a whole channel: a version at its end is
 * removed for formats whose paths have it, and, in a channel with both sorts, added for the others.
 */
export function baseUrlFor(format: Format, address: string, mixed: boolean): string {
  const url = address.replace(/\/+$/, '')
  if (FORMATS.get(format)?.versioned === 'path') return url.replace(VERSION, '')
  return mixed && !VERSION.test(url) ? `${url}/v1` : url
}

/** Whether the formats differ in where their addresses have the version. */
export const isMixed = (formats: readonly Format[]): boolean =>
  new Set(formats.map(format => FORMATS.get(format)?.versioned ?? 'base')).size > 1

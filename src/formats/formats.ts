import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { Work } from '../canonical/work.ts'
import type { AuthStyle } from './auth.ts'

/** Facts about a wire format that hold for every vendor. */
export interface FormatFacts {
  /** The kinds of work that an upstream of this format can do; the first is what the format is made for. */
  readonly does: readonly Work[]
  /** Whether the version is part of the base URL (`…/v1`) or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
  /** The request for the upstream's list of models; by default `/models`. */
  readonly listing?: Omit<WireRequest, 'body'>
  /** Upstreams make only one image per request. */
  readonly singleImage?: true
  /** The request field that has all inputs embedded as one text, so that they cannot be sent separately. */
  readonly jointInputs?: string
  /** The spelling of a request for a stream with usage, in formats that report usage only on request. */
  readonly usageOnDemand?: JsonObject
}

const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** The facts of every format that an upstream can use. */
export const FORMAT_FACTS: ReadonlyMap<Format, FormatFacts> = new Map<Format, FormatFacts>([
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
 * Work that the gateway can emulate by other work: it ranks documents by their vectors, estimates tokens, compacts a
 * conversation by a summary, and runs a realtime session as transcription, conversation and speech in turn.
 */
const EMULATED_BY: { readonly [W in Work]?: Work } = {
  ranking: 'embedding',
  count: 'conversation',
  compaction: 'conversation',
  realtime: 'conversation',
}

/** The degree to which a format can do a kind of work. */
export type Fitness = 'made-for-it' | 'able' | 'emulated'

/**
 * Returns how well an upstream of the format can do the work; undefined if it cannot, or if the format is unknown. A
 * dialect flag such as `compaction: false` declares work that the vendor lacks.
 */
export function fitnessOf(format: Format, work: Work, dialect: JsonObject = {}): Fitness | undefined {
  const does = FORMAT_FACTS.get(format)?.does ?? []
  const lacks = dialect[work] === false
  if (does[0] === work && !lacks) return 'made-for-it'
  if (does.includes(work) && !lacks) return 'able'
  // Tokens can be estimated for any upstream.
  if (work === 'count' && FORMAT_FACTS.has(format)) return 'emulated'
  const basis = EMULATED_BY[work]
  return basis !== undefined && does.includes(basis) ? 'emulated' : undefined
}

/** Whether the upstream does the work without emulation. */
export const isDirect = (fitness: Fitness | undefined): boolean => fitness !== undefined && fitness !== 'emulated'

/** The first format that is made for the work, in which the gateway writes the answers to its own requests. */
export function formatMadeFor(work: Work): Format {
  for (const [format, { does }] of FORMAT_FACTS) if (does[0] === work) return format
  throw new Error(`No format is made for ${work}.`)
}

/** Matches the version at the end of a URL. */
export const VERSION = /\/v\d+[a-z0-9]*$/

/**
 * Derives a format's base URL from the one URL that an operator configured for a channel. A version at the end is
 * removed if the format has it in its paths, and added for the other formats of a channel that has both sorts.
 */
export function baseUrlFor(format: Format, address: string, mixed: boolean): string {
  const url = address.replace(/\/+$/, '')
  if (FORMAT_FACTS.get(format)?.versioned === 'path') return url.replace(VERSION, '')
  return mixed && !VERSION.test(url) ? `${url}/v1` : url
}

/** Whether some of the formats have the version in the base URL and others in the path. */
export const isMixed = (formats: readonly Format[]): boolean =>
  new Set(formats.map(format => FORMAT_FACTS.get(format)?.versioned ?? 'base')).size > 1

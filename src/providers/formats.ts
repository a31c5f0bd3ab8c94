import type { Format, JsonObject } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'
import type { AuthStyle } from '../config/types.ts'

/** What is true of a wire format at whatever vendor speaks it. */
export interface FormatFacts {
  /** The work an upstream of this format can do, what it is made for first. */
  readonly does: readonly Work[]
  /** The version is part of the base address (`…/v1`), or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
}

const openai = (...does: Work[]): FormatFacts => ({ does, versioned: 'base', auth: 'bearer' })

/** Every format an upstream can be asked in, a row each. */
export const FORMATS: ReadonlyMap<Format, FormatFacts> = new Map<Format, FormatFacts>([
  ['chat', openai('conversation', 'completion', 'transcription')],
  ['responses', openai('conversation', 'completion', 'count', 'compaction', 'image')],
  ['messages', { does: ['conversation', 'completion', 'count'], versioned: 'path', auth: 'x-api-key' }],
  [
    'contents',
    {
      does: ['conversation', 'completion', 'count', 'embedding', 'image', 'speech', 'transcription'],
      versioned: 'path',
      auth: 'x-goog-api-key',
    },
  ],
  ['completions', openai('completion')],
  ['embeddings', openai('embedding')],
  ['rerank', openai('ranking')],
  ['cohere', { does: ['ranking', 'embedding'], versioned: 'path', auth: 'bearer' }],
  ['images', openai('image')],
  ['speech', openai('speech')],
  ['transcriptions', openai('transcription')],
  ['videos', openai('video')],
  ['veo', { does: ['video'], versioned: 'path', auth: 'x-goog-api-key' }],
  ['kling', { does: ['video'], versioned: 'path', auth: 'jwt' }],
  ['elevenlabs', { does: ['speech', 'transcription'], versioned: 'path', auth: 'xi-api-key' }],
  ['deepgram', { does: ['transcription'], versioned: 'path', auth: 'token' }],
])

/**
 * Work the gateway can do itself out of another: documents are ranked by their vectors, tokens are estimated, a
 * conversation is compacted by a summary.
 */
const EMULATIONS: { readonly [W in Work]?: Work } = {
  ranking: 'embedding',
  count: 'conversation',
  compaction: 'conversation',
}

/** How well a format does a kind of work; undefined where it cannot, smaller is better. */
export type Fitness = 'made-for-it' | 'able' | 'emulated'

/**
 * Whether, and how, an upstream of the format can do the work; a format this table does not know does nothing. A
 * dialect says of work its vendor lacks that it is not done there: `compaction: false`.
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

/** The version at the end of an address. */
export const VERSION = /\/v\d+[a-z0-9]*$/

/**
 * The base address of one format, from the one address an operator wrote for a whole channel: the version at its end
 * is taken off for formats whose paths carry it, and, in a channel that speaks both sorts, put on for the others.
 */
export function baseUrlFor(format: Format, address: string, mixed: boolean): string {
  const url = address.replace(/\/+$/, '')
  if (FORMATS.get(format)?.versioned === 'path') return url.replace(VERSION, '')
  return mixed && !VERSION.test(url) ? `${url}/v1` : url
}

/** Whether the formats differ in where the version of their addresses stands. */
export const isMixed = (formats: readonly Format[]): boolean =>
  new Set(formats.map(format => FORMATS.get(format)?.versioned ?? 'base')).size > 1

import type { Format, JsonObject } from '../canonical/node.ts'
import { withoutTrailingSlashes } from '../canonical/text.ts'
import type { Work } from '../canonical/work.ts'
import { column } from './rows/index.ts'
import type { FormatFacts } from './rows/row.ts'

/** Facts about every format that an upstream can use. */
export const FORMAT_FACTS: ReadonlyMap<Format, FormatFacts> = column(({ upstream }) => upstream)

/**
 * Work that the gateway can emulate with other work: it ranks documents by their vectors, compacts a conversation with
 * a summary, and runs a realtime session as transcription, conversation and speech.
 */
const EMULATED_BY: { readonly [W in Work]?: Work } = {
  ranking: 'embedding',
  compaction: 'conversation',
  realtime: 'conversation',
}

/** Degree to which a format can do a kind of work. */
export type Fitness = 'primary' | 'able' | 'emulated'

/**
 * Returns the degree to which an upstream of the format can do the work, or undefined if it cannot do the work, or if
 * the format is unknown. A dialect flag such as `compaction: false` declares that the vendor lacks a kind of work.
 */
export function fitnessOf(format: Format, work: Work, dialect: JsonObject = {}): Fitness | undefined {
  const does = FORMAT_FACTS.get(format)?.does ?? []
  if (dialect[work] !== false && does.includes(work)) return does[0] === work ? 'primary' : 'able'
  // Tokens can be estimated for any upstream.
  if (work === 'count' && FORMAT_FACTS.has(format)) return 'emulated'
  const emulatingWork = EMULATED_BY[work]
  return emulatingWork !== undefined && does.includes(emulatingWork) ? 'emulated' : undefined
}

/** Returns true if the upstream does the work without emulation. */
export const isDirect = (fitness: Fitness | undefined): boolean => fitness !== undefined && fitness !== 'emulated'

/** Returns the first format designed for the work. The gateway uses it for answers to its own requests. */
export function formatMadeFor(work: Work): Format {
  for (const [format, { does }] of FORMAT_FACTS) if (does[0] === work) return format
  throw new Error(`No format is designed for ${work}.`)
}

/** Matches the version at the end of a URL. */
export const URL_VERSION = /\/v\d[a-z0-9]*$/

/**
 * Derives a format's base URL from the single URL that an operator configured for a channel. A trailing version is
 * removed if the format has it in its paths. For all other formats of a channel with both kinds of formats, a missing
 * version is added.
 */
export function baseUrlFor(format: Format, address: string, mixed: boolean): string {
  const url = withoutTrailingSlashes(address)
  if (FORMAT_FACTS.get(format)?.versioned === 'path') return url.replace(URL_VERSION, '')
  return mixed && !URL_VERSION.test(url) ? `${url}/v1` : url
}

/** Returns true if some of the formats have the version in the base URL, and others in the path. */
export const isMixed = (formats: readonly Format[]): boolean =>
  new Set(formats.map(format => FORMAT_FACTS.get(format)?.versioned ?? 'base')).size > 1

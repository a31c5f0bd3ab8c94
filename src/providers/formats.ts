import type { Format } from '../canonical/node.ts'
import type { AuthStyle } from '../config/types.ts'

/** What is true of a wire format at whatever vendor speaks it. */
export interface FormatFacts {
  /** Formats of one kind can stand in for each other. */
  readonly kind: string
  /** The version is part of the base address (`…/v1`), or of the paths below it. */
  readonly versioned: 'base' | 'path'
  readonly auth: AuthStyle
}

const openai = (kind: string): FormatFacts => ({ kind, versioned: 'base', auth: 'bearer' })

export const FORMATS: ReadonlyMap<Format, FormatFacts> = new Map<Format, FormatFacts>([
  ['chat', openai('conversation')],
  ['responses', openai('conversation')],
  ['messages', { kind: 'conversation', versioned: 'path', auth: 'x-api-key' }],
  ['contents', { kind: 'conversation', versioned: 'path', auth: 'x-goog-api-key' }],
  ['completions', openai('completions')],
  ['embeddings', openai('embeddings')],
  ['rerank', openai('rerank')],
  ['images', openai('images')],
  ['videos', openai('videos')],
  ['speech', openai('speech')],
  ['transcriptions', openai('transcriptions')],
  ['realtime', openai('realtime')],
])

/** What a format is used for; a format this table does not know is of a kind of its own. */
export const kindOfFormat = (format: Format): string => FORMATS.get(format)?.kind ?? format

const VERSION = /\/v\d+[a-z0-9]*$/

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

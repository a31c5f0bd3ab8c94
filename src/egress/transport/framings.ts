import { CHUNK_FRAMES, EVENT_FRAMES } from './frames.ts'
import { EVENT_STREAM, type Framing, JSON_ARRAY, JSON_LINES } from './sse.ts'

/** Encodings of a stream's events, by kind of endpoint. */
export const FRAMINGS = {
  events: EVENT_STREAM,
  array: JSON_ARRAY,
  lines: JSON_LINES,
  frames: EVENT_FRAMES,
  chunks: CHUNK_FRAMES,
} as const satisfies { readonly [kind: string]: Framing }

export type FramingKind = keyof typeof FRAMINGS

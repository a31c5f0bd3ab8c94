import type { Format } from '../canonical/node.ts'
import type { Work } from '../canonical/work.ts'

/**
 * The formats in which callers send requests, and the kinds of work that they request in each. Token counting is
 * missing, because the gateway can estimate the tokens of any model.
 */
export const CALLER_FORMATS: ReadonlyMap<Format, readonly Work[]> = new Map<Format, readonly Work[]>([
  ['chat', ['conversation', 'image', 'speech']],
  ['responses', ['conversation', 'compaction', 'image']],
  ['messages', ['conversation']],
  ['contents', ['conversation', 'embedding', 'image', 'speech']],
  ['completions', ['completion']],
  ['embeddings', ['embedding']],
  ['rerank', ['ranking']],
  ['cohere', ['ranking', 'embedding']],
  ['images', ['image']],
  ['speech', ['speech']],
  ['transcriptions', ['transcription']],
  ['videos', ['video']],
  ['generations', ['video']],
  ['kling', ['video']],
  ['realtime', ['realtime']],
])

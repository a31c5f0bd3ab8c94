import type { JsonObject } from '../../canonical/node.ts'
import type { DialectOf, Flags } from './flag.ts'
import { VOICE_FLAGS } from './shared-flags.ts'

/** Dialect flags of speech upstreams. */
export const FLAGS = {
  ...VOICE_FLAGS,
  speech_events: {
    values: 'boolean',
    default: true,
    meaning: 'streams events; default: true; if false, the gateway makes events of the bytes',
  },
  wav_only: {
    values: 'boolean',
    default: false,
    meaning: 'returns WAV files only, of which the gateway makes MP3 and raw samples; default: false',
  },
  speech_fields: {
    values: ['openai', 'mistral'],
    default: 'openai',
    meaning:
      'the fields of requests: `openai` (default), or `mistral`: `voice_id`, neither instructions nor speed, and raw samples that the gateway makes of WAV files',
  },
  raw_samples: {
    values: ['pcm', 'raw'],
    default: 'pcm',
    meaning:
      'the name of raw samples: `pcm` (default), or `raw` (Together), beside which their encoding and rate are stated',
  },
} as const satisfies Flags

export type SpeechDialect = DialectOf<typeof FLAGS>

export const speechDialect = (dialect: JsonObject): SpeechDialect => dialect as SpeechDialect

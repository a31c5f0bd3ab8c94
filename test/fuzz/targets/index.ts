import type { Target } from '../target.ts'
import { CONFIGS } from './configs.ts'
import { ERROR_ANSWERS } from './errors.ts'
import { HEADERS } from './headers.ts'
import { RECORDINGS } from './recordings.ts'
import { REQUESTS } from './requests.ts'
import { RESULTS } from './results.ts'
import { STREAMS } from './streams.ts'
import { TRANSPORT } from './transport.ts'
import { VOICE } from './voice.ts'

/** All readers that are fuzzed. */
export const TARGETS: readonly Target[] = [
  ...[...REQUESTS, ...RESULTS, ...STREAMS, ...ERROR_ANSWERS],
  ...[...TRANSPORT, ...VOICE, ...CONFIGS, ...RECORDINGS, ...HEADERS],
]

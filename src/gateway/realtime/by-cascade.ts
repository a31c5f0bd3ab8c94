import type { ModelFacts } from '../../config/index.ts'
import type { Candidate } from '../../router.ts'

/** Names of models that speak by themselves, at the vendors that have some. */
const SPEAKING = /realtime|live|voice|native-audio|\baudio\b/i

/** Whether a model is for conversations in text, which a cascade makes a session of. */
export const byCascade = ({ emulated, upstreamModel }: Candidate, facts: ModelFacts | undefined): boolean =>
  emulated || (facts?.interface !== undefined ? !REALTIME.has(facts.interface) : !SPEAKING.test(upstreamModel))

const REALTIME: ReadonlySet<string> = new Set(['realtime', 'live'])

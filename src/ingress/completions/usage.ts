import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined } from '../fields.ts'
import { readCounts } from '../openai-answer.ts'
import { FORMAT } from './prompt.ts'

/** Tokens as completions count them (FORMATS §3); how they were written is kept whole, for this format's own callers. */
export const readUsage = (wire: JsonObject): Usage =>
  defined({ ...readCounts(wire), spelling: { [FORMAT]: { whole: wire } } })

import type { Json, JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined, rest } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'

const FORMAT = 'transcriptions'

/** The two pairs of names for tokens of prompt and answer (FORMATS §12, Mistral). */
const NAMES = [
  ['input_tokens', 'output_tokens'],
  ['prompt_tokens', 'completion_tokens'],
] as const

const DETAILS = 'input_token_details'

/** Tokens, or seconds of audio, which become extras; how they were written is kept whole. */
export function readUsage(wire: JsonObject): Usage {
  const own = NAMES.find(([input]) => anyCount(wire[input]) !== undefined) ?? NAMES[0]
  const [input, output] = own.map(name => anyCount(wire[name]))
  const { inputBy, others: left } = readDetails(wire[DETAILS])
  const taken = new Set(['type', ...own, 'total_tokens', DETAILS])
  const refused = [...taken].filter(name => name !== DETAILS && !isAsExpected(name, wire[name]))
  const node = rest(FORMAT, wire, taken, { whole: wire }, refused)
  const extras = left === undefined ? node.extras?.[FORMAT] : { ...node.extras?.[FORMAT], [DETAILS]: left }
  return {
    ...settled({ input, output, total: anyCount(wire['total_tokens']) }),
    ...defined({ inputBy }),
    ...(extras === undefined ? {} : { extras: { [FORMAT]: extras } }),
    ...defined({ spelling: node.spelling }),
  }
}

const isAsExpected = (name: string, value: Json | undefined): boolean =>
  value === undefined || typeof value === (name === 'type' ? 'string' : 'number')

const COUNTS = new Set(['text_tokens', 'audio_tokens'])

/** The counts by modality, and what else stands there. */
function readDetails(wire: Json | undefined): { inputBy?: NonNullable<Usage['inputBy']>; others?: Json } {
  const details = anyObject(wire)
  if (details === undefined) return wire === undefined || wire === null ? {} : { others: wire }
  const text = anyNumber(details['text_tokens'])
  const audio = anyNumber(details['audio_tokens'])
  const known = [...COUNTS].filter(name => typeof details[name] === 'number')
  const others = Object.fromEntries(Object.entries(details).filter(([name]) => !known.includes(name)))
  return {
    ...(known.length === 0 ? {} : { inputBy: defined({ text, audio }) }),
    ...(Object.keys(others).length === 0 ? {} : { others: others }),
  }
}

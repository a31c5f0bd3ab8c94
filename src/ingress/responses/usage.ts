import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, anyObject, defined, rest } from '../fields.ts'

const FORMAT = 'responses'

const TAKEN = new Set([
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
])
const INPUT = new Set(['cached_tokens', 'cache_write_tokens'])
const OUTPUT = new Set(['reasoning_tokens'])

/** Counts include what was cached and what was thought, as canonical has it (FORMATS §16.3). */
export function readUsage(wire: JsonObject): Usage {
  const inside = anyObject(wire['input_tokens_details'])
  const outside = anyObject(wire['output_tokens_details'])
  const input = anyNumber(wire['input_tokens'])
  const output = anyNumber(wire['output_tokens'])
  const total = anyNumber(wire['total_tokens'])
  return defined({
    input,
    cacheRead: anyNumber(inside?.['cached_tokens']),
    cacheWrite: anyNumber(inside?.['cache_write_tokens']),
    output,
    reasoning: anyNumber(outside?.['reasoning_tokens']),
    total: total === (input ?? 0) + (output ?? 0) ? undefined : total,
    ...detailed(wire, inside, outside, total === undefined),
  })
}

/** What the count and its details say beyond canonical; which of them were there is spelling. */
function detailed(wire: JsonObject, input: JsonObject | undefined, output: JsonObject | undefined, apart: boolean) {
  const outer = rest(FORMAT, wire, TAKEN, undefined, misread(wire))
  const inInput = input && rest(FORMAT, input, INPUT)
  const inOutput = output && rest(FORMAT, output, OUTPUT)
  const extras = defined({
    ...outer.extras?.[FORMAT],
    input_tokens_details: inInput?.extras?.[FORMAT] ?? outer.extras?.[FORMAT]?.['input_tokens_details'],
    output_tokens_details: inOutput?.extras?.[FORMAT] ?? outer.extras?.[FORMAT]?.['output_tokens_details'],
  }) as JsonObject
  const spelt = defined({
    own: true,
    nulls: outer.spelling?.[FORMAT]?.['nulls'],
    input: inInput && (inInput.spelling?.[FORMAT] ?? {}),
    output: inOutput && (inOutput.spelling?.[FORMAT] ?? {}),
    apart: apart ? true : undefined,
  }) as JsonObject
  return {
    extras: Object.keys(extras).length === 0 ? undefined : { [FORMAT]: extras },
    spelling: { [FORMAT]: spelt },
  }
}

/** Known fields of a wrong type are kept as they are. */
const misread = (wire: JsonObject): string[] =>
  [...TAKEN].filter(field => {
    const value = wire[field]
    return value != null && (field.endsWith('_details') ? !isObject(value) : typeof value !== 'number')
  })

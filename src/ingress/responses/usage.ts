import { isObject, type JsonObject, readFrom } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyObject, defined, left } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'

const FORMAT = 'responses'

const TAKEN = new Set([
  ...['input_tokens', 'output_tokens', 'total_tokens', 'input_tokens_details', 'output_tokens_details'],
])
const INPUT = new Set(['cached_tokens', 'cache_write_tokens'])
const OUTPUT = new Set(['reasoning_tokens'])

/** Counts include cached and reasoning tokens, as in canonical, unless their total shows otherwise (FORMATS §16.3). */
export function readUsage(wire: JsonObject): Usage {
  const inputDetails = anyObject(wire['input_tokens_details'])
  const outputDetails = anyObject(wire['output_tokens_details'])
  const cacheRead = anyCount(inputDetails?.['cached_tokens'])
  const cacheWrite = anyCount(inputDetails?.['cache_write_tokens'])
  const reasoning = anyCount(outputDetails?.['reasoning_tokens'])
  const reported = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  const usage: Usage = defined({
    ...settled({ ...reported, cached: (cacheRead ?? 0) + (cacheWrite ?? 0), reasoning }),
    cacheRead,
    cacheWrite,
    reasoning,
    extras: extrasOf(wire, inputDetails, outputDetails),
  })
  return readFrom(usage, FORMAT, wire)
}

/** Fields of the usage and its details that canonical does not have. */
function extrasOf(wire: JsonObject, input: JsonObject | undefined, output: JsonObject | undefined) {
  const outer = left(FORMAT, wire, TAKEN, misread(wire)).extras?.[FORMAT]
  const extras = defined({
    ...outer,
    input_tokens_details: input ? left(FORMAT, input, INPUT).extras?.[FORMAT] : outer?.['input_tokens_details'],
    output_tokens_details: output ? left(FORMAT, output, OUTPUT).extras?.[FORMAT] : outer?.['output_tokens_details'],
  }) as JsonObject
  return Object.keys(extras).length === 0 ? undefined : { [FORMAT]: extras }
}

/** Known fields of a wrong type are kept as they are. */
const misread = (wire: JsonObject): string[] =>
  [...TAKEN].filter(field => {
    const value = wire[field]
    return value != null && (field.endsWith('_details') ? !isObject(value) : typeof value !== 'number')
  })

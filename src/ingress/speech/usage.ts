import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { anyNumber, defined, rest } from '../fields.ts'
import { FORMAT } from './containers.ts'

const TAKEN = new Set(['input_tokens', 'output_tokens', 'total_tokens'])

/** Tokens of a streamed answer; a whole one tells of none. */
export function readUsage(wire: JsonObject): Usage {
  const input = anyNumber(wire['input_tokens'])
  const output = anyNumber(wire['output_tokens'])
  const total = anyNumber(wire['total_tokens'])
  const known = input !== undefined && output !== undefined && total === input + output
  return { ...defined({ input, output, total: known ? undefined : total }), ...rest(FORMAT, wire, TAKEN) }
}

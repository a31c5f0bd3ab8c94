import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { rest } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'
import { FORMAT } from './containers.ts'

const TAKEN = new Set(['input_tokens', 'output_tokens', 'total_tokens'])

/** Tokens of a streamed answer; a whole one tells of none. */
export function readUsage(wire: JsonObject): Usage {
  const told = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  return { ...settled(told), ...rest(FORMAT, wire, TAKEN, { whole: wire }) }
}

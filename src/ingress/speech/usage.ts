import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { rest } from '../fields.ts'
import { anyCount, settled } from '../usage/counts.ts'
import { FORMAT } from './containers.ts'

const TAKEN = new Set(['input_tokens', 'output_tokens', 'total_tokens'])

/** Tokens of a streamed answer; a whole one has no usage. */
export function readUsage(wire: JsonObject): Usage {
  const reported = {
    input: anyCount(wire['input_tokens']),
    output: anyCount(wire['output_tokens']),
    total: anyCount(wire['total_tokens']),
  }
  return { ...settled(reported), ...rest(FORMAT, wire, TAKEN, { whole: wire }) }
}

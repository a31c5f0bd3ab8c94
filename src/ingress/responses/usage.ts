import { type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { countNames, readUsage as readCounts } from '../usage/openai.ts'
import { FORMAT } from './wire.ts'

const NAMES = countNames('input_tokens', 'output_tokens')

/**
 * Reads usage. Counts include cached and reasoning tokens, as in the canonical model, unless the total shows otherwise
 * (docs/wire/responses.md#usage).
 */
export const readUsage = (wire: JsonObject): Usage => withWireSource(readCounts(FORMAT, wire, NAMES), FORMAT, wire)

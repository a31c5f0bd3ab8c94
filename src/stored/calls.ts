import { GatewayError } from '../canonical/error.ts'
import type { JsonObject } from '../canonical/node.ts'
import { itemsOf } from './items.ts'

/**
 * Refuses a continuation that answers calls which were not made: where only new items are sent, such an answer was meant
 * for another conversation, which the caller could not see otherwise.
 *
 * @throws GatewayError `invalid-request`.
 */
export function checkCalls(whole: JsonObject): void {
  const calls = new Set<unknown>()
  for (const { type, call_id } of itemsOf(whole['input'])) {
    const kind = String(type)
    if (kind.endsWith('_call')) calls.add(call_id)
    else if (ANSWERS.has(kind) && !calls.has(call_id)) throw uncalled(call_id)
  }
}

const ANSWERS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])

const uncalled = (id: unknown): GatewayError =>
  new GatewayError({
    kind: 'invalid-request',
    message: `No tool call found for the output with call_id ${JSON.stringify(id)}.`,
    param: 'input',
    code: 'tool_call_not_found',
  })

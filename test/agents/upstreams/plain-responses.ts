import type { Loose } from '../../clients/scene.ts'
import { responses } from './responses.ts'
import type { StrictUpstream } from './strict.ts'

/*
 * The responses endpoint of a self-hosted server such as Ollama or vLLM: functions are its only tools, and it stores
 * nothing.
 */

const FOREIGN_ITEMS = new Set(['additional_tools', 'custom_tool_call', 'custom_tool_call_output'])

function* foreignFaults({ input, tools = [], previous_response_id }: Loose): Generator<string> {
  for (const { type } of tools) if (type === 'custom' || type === 'namespace') yield `tools: unknown type '${type}'`
  for (const item of Array.isArray(input) ? input : []) {
    if (FOREIGN_ITEMS.has(item.type)) yield `input: unknown item type '${item.type}'`
    if (item.namespace !== undefined) yield `input: a call with a namespace`
  }
  if (previous_response_id != null) yield 'previous_response_id: responses are not stored'
}

export const plainResponses: StrictUpstream = {
  ...responses,
  ...{ name: 'plain-responses', provider: 'ollama', model: 'qwen3-coder' },
  *faults(body, issued) {
    yield* foreignFaults(body)
    yield* responses.faults(body, issued)
  },
}

import type { Json, JsonObject } from '../../../src/canonical/node.ts'

/* Valid values of kinds that have required fields. Every other kind is probed with a field that nobody knows. */

type Samples = { readonly [kind: string]: JsonObject }

const SCHEMA = { type: 'object', properties: {} }
const FUNCTION = { name: 'it', description: 'Does it.' }

/** Blocks of messages, by type. */
export const BLOCKS: Samples = {
  text: { text: 'Hi' },
  thinking: { thinking: 'Hm', signature: 'EqQB' },
  redacted_thinking: { data: 'EqQB' },
  tool_use: { id: 'toolu_1', name: 'it', input: {} },
  server_tool_use: { id: 'srvtoolu_1', name: 'web_search', input: { query: 'tides' } },
  web_search_tool_result: { tool_use_id: 'srvtoolu_1', content: [] },
}

export const CITATIONS: Samples = {
  web_search_result_location: { url: 'https://tides.example/', title: 'Tides', cited_text: 'noon' },
}

/** Tools of messages, by type. */
export const MESSAGES_TOOLS: Samples = {
  custom: { name: 'it', input_schema: SCHEMA },
  web_search_20250305: { name: 'web_search' },
  web_search_20260209: { name: 'web_search' },
  web_search_20260318: { name: 'web_search' },
}

/** Items of responses, by type. */
export const ITEMS: Samples = {
  message: { role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] },
  reasoning: { summary: [{ type: 'summary_text', text: 'Hm' }] },
  function_call: { call_id: 'call_1', name: 'it', arguments: '{}' },
  function_call_output: { call_id: 'call_1', output: 'Done' },
  custom_tool_call: { call_id: 'call_1', name: 'it', input: 'now' },
  custom_tool_call_output: { call_id: 'call_1', output: 'Done' },
  image_generation_call: { result: 'aGk=', status: 'completed' },
  web_search_call: {
    action: { type: 'search', query: 'tides', sources: [{ type: 'url', url: 'https://tides.example/' }] },
  },
}

/** Tools of responses, by type. */
export const RESPONSES_TOOLS: Samples = {
  function: { ...FUNCTION, parameters: SCHEMA },
  custom: FUNCTION,
  code_interpreter: { container: { type: 'auto' } },
  web_search: {},
  web_search_2025_08_26: {},
  web_search_preview: {},
  web_search_preview_2025_03_11: {},
  namespace: { ...FUNCTION, tools: [{ type: 'function', ...FUNCTION, parameters: SCHEMA }] },
}

/** Parts of contents, by field. */
export const PARTS: Samples = {
  inlineData: { mimeType: 'image/png', data: 'aGk=' },
  functionCall: { name: 'it', args: {} },
  fileData: { mimeType: 'image/png', fileUri: 'https://tides.example/a.png' },
}

/** Tools of contents, by field. */
export const CONTENTS_TOOLS: Samples = { googleSearch: {}, codeExecution: {}, urlContext: {} }

/** Fields of grounding metadata. */
export const GROUNDING: { readonly [field: string]: readonly Json[] } = {
  webSearchQueries: ['tides'],
  groundingChunks: [],
  groundingSupports: [],
}

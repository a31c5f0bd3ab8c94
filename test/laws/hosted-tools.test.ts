import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { essentialLosses, refusableLosses, shownLosses } from '../../src/egress/losses.ts'
import { READERS } from '../../src/ingress/index.ts'
import { conversing, formatsWith, holds } from './support.ts'

/* A hosted tool without a counterpart is dropped and reported. The request is refused only if it requires the tool. */

interface Tools {
  readonly hosted: readonly JsonObject[]
  readonly client: readonly JsonObject[]
  /** Returns choices that require a hosted tool of the list. */
  readonly insisting: (hosted: JsonObject) => JsonObject
  readonly auto: JsonObject
  readonly required: JsonObject
  readonly none: JsonObject
  readonly request: (tools: readonly JsonObject[]) => JsonObject
  readonly path: string
}

const schema = { type: 'object', properties: {} }
const says = [{ role: 'user', content: 'Hi' }]
const plainModes = { auto: {}, required: { tool_choice: 'required' }, none: { tool_choice: 'none' } }

const FORMATS: { readonly [format: string]: Tools } = {
  chat: {
    hosted: [
      { type: 'openrouter:web_search' },
      { type: 'web_search', web_search: { enable: true } },
      { type: 'builtin_function', name: '$web_search' },
    ],
    client: [
      { type: 'function', function: { name: 'f', parameters: schema } },
      { type: 'local_shell' },
      { type: 'newer', parameters: schema },
    ],
    insisting: ({ type }) => ({ tool_choice: { type: type! } }),
    ...plainModes,
    request: tools => ({ model: 'm', messages: says, tools }),
    path: '/chat/completions',
  },
  responses: {
    hosted: [
      { type: 'file_search', vector_store_ids: ['v'] },
      { type: 'mcp', server_label: 's', server_url: 'https://x.test' },
      { type: 'image_generation' },
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
      { type: 'shell', environment: { type: 'container_auto' } },
      { type: 'tool_search' },
    ],
    client: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'local_shell' },
      { type: 'apply_patch' },
      { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'browser' },
      { type: 'tool_search', execution: 'client' },
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }, { type: 'other' }] },
    ],
    insisting: ({ type }) => ({ tool_choice: { type: type! } }),
    ...plainModes,
    request: tools => ({ model: 'm', input: 'Hi', tools }),
    path: '/responses',
  },
  messages: {
    hosted: [
      { type: 'advisor_20260301', name: 'advisor', model: 'm' },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
    ],
    client: [
      { name: 'f', input_schema: schema },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'memory_20250818', name: 'memory' },
      { type: 'newer_20270101', name: 'newer', input_schema: schema },
    ],
    insisting: ({ name }) => ({ tool_choice: { type: 'tool', name: name! } }),
    auto: { tool_choice: { type: 'auto' } },
    required: { tool_choice: { type: 'any' } },
    none: { tool_choice: { type: 'none' } },
    request: tools => ({ model: 'm', max_tokens: 9, messages: says, tools }),
    path: '/v1/messages',
  },
  interactions: {
    hosted: [
      { type: 'file_search', file_search_store_names: ['s'] },
      { type: 'google_maps' },
      { type: 'mcp_server', name: 's', url: 'https://e.com/mcp' },
      { type: 'google_search' },
      { type: 'retrieval' },
      { type: 'tool_search' },
    ],
    client: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'computer_use', environment: 'browser' },
      { type: 'tool_search', execution: 'client', name: 'find', parameters: schema },
    ],
    // The format cannot choose a hosted tool.
    insisting: () => ({ generation_config: { tool_choice: 'any' } }),
    auto: {},
    required: { generation_config: { tool_choice: 'any' } },
    none: { generation_config: { tool_choice: 'none' } },
    request: tools => ({ model: 'm', input: 'Hi', tools }),
    path: '/v1beta/interactions',
  },
  contents: {
    hosted: [
      { fileSearch: { fileSearchStoreNames: ['s'] } },
      { googleMaps: {} },
      { googleSearch: {} },
      { urlContext: {} },
      { codeExecution: {} },
    ],
    client: [{ functionDeclarations: [{ name: 'f' }] }, { computerUse: { environment: 'ENVIRONMENT_BROWSER' } }],
    // The format cannot choose a hosted tool.
    insisting: () => ({ toolConfig: { functionCallingConfig: { mode: 'ANY' } } }),
    auto: {},
    required: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    none: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    request: tools => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], tools }),
    path: '/v1beta/models/m:generateContent',
  },
}

/** Returns the losses of a request in another format, and the losses for which it is refused. */
function written(from: string, to: string, body: JsonObject) {
  const request = READERS[from]!.request!({ path: FORMATS[from]!.path, query: {}, headers: {}, body })
  const { wire, losses } = WRITERS[to]!.request!(request, { dialect: {}, native: false })
  const lost = (index: number) =>
    losses.some(({ kind, path }) => kind === 'dropped' && path.join('/') === `tools/${index}`) ||
    losses.some(({ kind, path }) => kind === 'dropped' && path.join('/') === 'tools')
  return { request, wire, losses, lost, refused: essentialLosses(losses, request).length > 0 }
}

const TARGETS = [...new Set([...conversing('request'), 'completions'])].filter(format =>
  formatsWith('request').includes(format),
)
const PAIRS = Object.keys(FORMATS).flatMap(from => TARGETS.filter(to => to !== from).map(to => [from, to] as const))

describe('hosted tools', () => {
  it.each(PAIRS)('%s to %s: those without a counterpart are dropped and shown', (from, to) => {
    const { hosted, client, auto, none, required, insisting, request } = FORMATS[from]!
    const choices = fc.constantFrom('auto', 'none', 'required', 'insisting')
    const some = fc.subarray([...hosted], { minLength: 1 })
    const functions = to === 'completions' ? [] : client.slice(0, 1)
    holds(fc.tuple(some, fc.subarray(functions), choices), ([tools, mine, choice]) => {
      const all = [...tools, ...mine]
      const chosen = { auto, none, required, insisting: insisting(tools[0]!) }[choice]!
      const { request: read, wire, losses, lost, refused } = written(from, to, { ...request(all), ...chosen })
      const insistsOnLost = choice === 'insisting' && !['contents', 'interactions'].includes(from) && lost(0)
      const noneLeft = read.toolChoice?.mode === 'required' && read.tools!.every((_, index) => lost(index))
      expect(refused).toBe(insistsOnLost || noneLeft)
      for (const index of tools.keys())
        if (lost(index)) {
          expect(shownLosses(losses).length).toBeGreaterThan(0)
          expect(refusableLosses(losses).length).toBeGreaterThan(0)
        }
      const grouped = wire.body['toolConfig'] as JsonObject | undefined
      if (((wire.body['tools'] ?? grouped?.['tools']) as unknown[] | undefined)?.length === undefined)
        for (const field of ['tool_choice', 'parallel_tool_calls', 'toolConfig'])
          expect(wire.body[field]).toBeUndefined()
    })
  })

  it.each(PAIRS)('%s to %s: to lose all tools of the client is refused, whatever else is left', (from, to) => {
    const { hosted, client, auto, request } = FORMATS[from]!
    for (const one of client)
      for (const beside of [[], hosted, hosted.slice(-1)]) {
        const { request: read, lost, refused } = written(from, to, { ...request([one, ...beside]), ...auto })
        expect([one, refused]).toEqual([one, read.tools![0]!.type === 'opaque' || lost(0)])
      }
  })
})

describe('state', () => {
  const asked = { model: 'm', messages: says, store: true }
  it.each(TARGETS.filter(to => !['chat', 'interactions', 'responses'].includes(to)))(
    'store: true of chat before %s is shown',
    to => {
      const { losses, refused } = written('chat', to, asked)
      expect(refused).toBe(false)
      expect(shownLosses(losses).map(({ path }) => path[0])).toContain('state')
    },
  )

  it('store: true of responses that the gateway does not keep itself is refused', () => {
    expect(written('responses', 'messages', { model: 'm', input: 'Hi', store: true }).refused).toBe(true)
  })
})

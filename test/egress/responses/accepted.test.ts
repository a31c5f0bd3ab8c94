import { expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { shownLosses } from '../../../src/egress/losses.ts'
import { PLAIN_RESPONSES } from '../../../src/formats/dialects/responses.ts'
import { xai } from '../../../src/formats/vendors/compatible.ts'
import { READERS } from '../../../src/ingress/index.ts'

/* Requests of Codex and Copilot, which know OpenAI's models, for the responses endpoint of another vendor. */

function sent(body: JsonObject, dialect: JsonObject = PLAIN_RESPONSES) {
  const wire = { path: '/v1/responses', query: {}, headers: {}, body: { model: 'm', ...body } }
  return WRITERS['responses']!.request!(READERS['responses']!.request!(wire), { dialect, native: true })
}

const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }
const CUSTOM = { type: 'custom', name: 'apply_patch', description: 'Edits files.' }
const NAMESPACE = { type: 'namespace', name: 'mail', description: 'Mail.', tools: [{ ...FUNCTION, name: 'send' }] }
const HISTORY = [
  { role: 'user', content: 'Hi' },
  { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin' },
  { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
]

it('has custom tools as functions, whose calls are custom for the caller', () => {
  const { wire, renamed } = sent({ input: HISTORY, tools: [FUNCTION, CUSTOM] })
  expect(wire.body['tools']).toMatchObject([FUNCTION, { type: 'function', name: 'apply_patch' }])
  expect(wire.body['input']).toMatchObject([
    { role: 'user' },
    { type: 'function_call', call_id: 'a', name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
    { type: 'function_call_output', call_id: 'a', output: 'ok' },
  ])
  expect(renamed?.get('apply_patch')).toMatchObject({ freeform: true })
})

it('has tools of namespaces under long names', () => {
  const { wire, renamed } = sent({ input: 'Hi', tools: [NAMESPACE] })
  expect(wire.body['tools']).toMatchObject([{ type: 'function', name: 'mail__send' }])
  expect(renamed?.get('mail__send')).toEqual({ name: 'send', namespace: 'mail' })
})

it('has tools that stand in the input in its list of tools', () => {
  const added = { type: 'additional_tools', role: 'developer', tools: [CUSTOM] }
  const { wire } = sent({ input: [added, { role: 'user', content: 'Hi' }] })
  expect(wire.body['tools']).toMatchObject([{ type: 'function', name: 'apply_patch' }])
  expect(wire.body['input']).toMatchObject([{ role: 'user' }])
})

it('has calls of custom tools as calls of functions, also without the tools, as in a request for a summary', () => {
  const { wire } = sent({ input: HISTORY })
  expect(wire.body['input']).toMatchObject([{}, { type: 'function_call' }, { type: 'function_call_output' }])
})

it('is passed on as it came if it has functions only, or the upstream takes the tools', () => {
  const functions = { input: HISTORY.slice(0, 1), tools: [FUNCTION], own: 1 }
  expect(sent(functions).wire.body).toEqual({ model: 'm', ...functions })
  const all = { input: HISTORY, tools: [FUNCTION, CUSTOM, NAMESPACE], own: 1 }
  expect(sent(all, {}).wire.body).toEqual({ model: 'm', ...all })
})

it('has no namespaces and no access of searches at xAI, which searches the web (Codex)', () => {
  const dialect = xai.formats.find(({ format }) => format === 'responses')!.dialect!
  const search = (access: boolean) => ({ type: 'web_search', external_web_access: access, search_context_size: 'low' })
  const live = sent({ input: 'Hi', tools: [NAMESPACE, search(true)] }, dialect)
  expect(live.wire.body['tools']).toMatchObject([{ type: 'function', name: 'mail__send' }, { type: 'web_search' }])
  expect(JSON.stringify(live.wire.body)).not.toContain('external_web_access')
  expect(JSON.stringify(live.wire.body)).toContain('"search_context_size":"low"')
  const cached = sent({ input: 'Hi', tools: [FUNCTION, search(false)] }, dialect)
  expect(cached.wire.body['tools']).toEqual([FUNCTION])
  expect(shownLosses(cached.losses)).toMatchObject([{ path: ['tools', 1], reason: 'no-search-without-the-web' }])
})

it('has no search for tools at xAI, but the tools that it found (Codex)', () => {
  const dialect = xai.formats.find(({ format }) => format === 'responses')!.dialect!
  const found = {
    type: 'tool_search_output',
    call_id: 's',
    execution: 'client',
    status: 'completed',
    tools: [FUNCTION],
  }
  const call = { type: 'tool_search_call', call_id: 's', execution: 'client', status: 'completed', arguments: {} }
  const tools = [{ type: 'tool_search', execution: 'client', parameters: { type: 'object', properties: {} } }]
  const { wire, losses } = sent({ input: [{ role: 'user', content: 'Hi' }, call, found], tools }, dialect)
  expect(wire.body['tools']).toEqual([FUNCTION])
  expect(wire.body['input']).toMatchObject([{ role: 'user' }])
  expect(shownLosses(losses).filter(({ reason }) => reason === 'no-search-of-tools')).toHaveLength(2)
})

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { channelAt } from '../builders/config.ts'
import { type Asked, TestServer } from '../builders/gateway.ts'
import { dataOf } from '../builders/http.ts'
import { RESPONSES_PATH } from '../builders/paths.ts'
import { FakeUpstream, type Seen } from '../builders/upstream.ts'
import type { Loose, Scene } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'

/* Tools of agents: where they are declared, and what becomes of their calls. */
const bodyOf = ({ text }: Seen): Loose => JSON.parse(text)

/**
 * Returns the request that an upstream of the format receives for a request at an endpoint, and the caller's answer.
 */
async function sent(
  format: string,
  path: string,
  body: JsonObject,
  scene: Scene = { text: 'Done.' },
  dialect = {},
  headers = {},
) {
  const spoken = UPSTREAMS[format]!
  const upstream = await FakeUpstream.open((response, seen) =>
    spoken.streams(seen.url, bodyOf(seen))
      ? response.writeHead(200, { 'content-type': 'text/event-stream' }).end(spoken.frames(scene).join(''))
      : response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(spoken.whole(scene))),
  )
  const testServer = await TestServer.open([channelAt(upstream.address, { format, dialect })])
  const answer: Asked = await testServer.ask(path, body, { headers: { 'anthropic-version': '2023-06-01', ...headers } })
  await testServer.server.close(0)
  await upstream.close()
  const [first] = upstream.seen
  return {
    answer,
    body: first === undefined ? undefined : (bodyOf(first) as Loose),
    loss: answer.headers['interlingua-loss'] ?? '',
  }
}

const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' }
const parameters = { type: 'object', properties: {} }
const member = (name: string): JsonObject => ({ type: 'function', name, description: '', strict: false, parameters })

/** Tools as Codex 0.169 declares them with a model that it knows (captured on 2026-11-22). */
const ADDITIONAL: JsonObject = {
  type: 'additional_tools',
  id: 'at_1',
  role: 'developer',
  tools: [
    {
      type: 'namespace',
      name: 'functions',
      description: '',
      tools: [{ type: 'custom', name: 'exec', description: 'Runs code.', format: GRAMMAR }, member('wait')],
    },
    { type: 'namespace', name: 'collaboration', description: 'Sub-agents.', tools: [member('spawn_agent')] },
  ],
}
const said = (role: string, text: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
})
const CODEX: JsonObject = {
  model: 'm',
  input: [ADDITIONAL, said('developer', 'You are Codex.'), said('user', 'Go on.')],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  store: false,
}

const CALL = { id: 'c1', name: 'wait', arguments: {} }

const namesAt: { readonly [format: string]: (body: Loose) => string[] } = {
  chat: body => (body.tools ?? []).map((tool: Loose) => (tool.function ?? tool.custom).name),
  messages: body => (body.tools ?? []).map((tool: Loose) => tool.name),
  contents: body => (body.tools?.[0]?.functionDeclarations ?? []).map((tool: Loose) => tool.name),
}
const rolesAt: { readonly [format: string]: (body: Loose) => string[] } = {
  chat: body => body.messages.map(({ role }: Loose) => role),
  messages: body => body.messages.map(({ role }: Loose) => role),
  contents: body => body.contents.map(({ role }: Loose) => role),
}
const FOREIGN = ['chat', 'messages', 'contents']

describe('trap 89: tools that come as an item of the input', () => {
  test.each(FOREIGN)('%s is given them as its tools', async format => {
    const { body, answer } = await sent(format, RESPONSES_PATH, CODEX)
    expect(answer.status, answer.text).toBe(200)
    expect(namesAt[format]!(body)).toEqual(['exec', 'wait', 'collaboration__spawn_agent'])
  })

  test.each(FOREIGN)('%s: the item is no turn, and nothing is made up because of it', async format => {
    const [item, ...input] = CODEX['input'] as JsonObject[]
    const call = { type: 'function_call', call_id: 'a', name: 'wait', namespace: 'functions', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'a', output: 'ok' }
    const places = [
      [item!, ...input, call, output],
      [...input, item!, call, output],
      [...input, call, item!, output],
      [...input, call, output, item!],
    ]
    const without = await sent(format, RESPONSES_PATH, {
      ...CODEX,
      tools: item!['tools']!,
      input: [...input, call, output],
    })
    for (const items of places) {
      const { body, loss } = await sent(format, RESPONSES_PATH, { ...CODEX, input: items })
      expect(body).toEqual(without.body)
      expect(loss.replaceAll(/\d+/g, '')).toBe(without.loss.replaceAll(/\d+/g, ''))
    }
    expect(rolesAt[format]!(without.body)).not.toContain('Continue.')
  })

  test('natively it stays in its place', async () => {
    const { body, loss } = await sent('responses', RESPONSES_PATH, CODEX)
    expect(body).toEqual(CODEX)
    expect(loss).toBe('')
  })

  test('beside `tools`, and several of them: in order, the last word on a name counts', async () => {
    const again = { ...ADDITIONAL, id: 'at_2', tools: [{ ...member('late'), description: 'New.' }, member('first')] }
    const old = { ...ADDITIONAL, tools: [{ ...member('late'), description: 'Old.' }] }
    const asked = { model: 'm', tools: [member('first')], input: [old, said('user', 'Hi'), again] }
    const { body } = await sent('chat', RESPONSES_PATH, asked)
    expect(namesAt['chat']!(body)).toEqual(['first', 'late'])
    expect(body.tools[1].function.description).toBe('New.')
    expect((await sent('responses', RESPONSES_PATH, asked)).body).toEqual(asked)
  })

  test.each(FOREIGN)('%s: calls come back in their groups, and freeform', async format => {
    const calls = [
      { id: 'c1', name: 'collaboration__spawn_agent', arguments: { to: 'look' } },
      { id: 'c2', name: 'exec', arguments: { input: 'ls' } },
    ]
    // Chat upstreams of OpenAI take custom tools unchanged. Others get functions.
    const dialect = format === 'chat' ? { custom_tools: false } : {}
    const restored = [
      { type: 'function_call', name: 'spawn_agent', namespace: 'collaboration', arguments: '{"to":"look"}' },
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'ls' },
    ]
    const whole = await sent(format, RESPONSES_PATH, CODEX, { calls }, dialect)
    expect(whole.answer.json.output).toMatchObject(restored)
    const streamed = await sent(format, RESPONSES_PATH, { ...CODEX, stream: true }, { calls }, dialect)
    const done = dataOf(streamed.answer.text).flatMap(data => (data === '[DONE]' ? [] : JSON.parse(data)))
    expect(done.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toMatchObject(
      restored,
    )
    // Codex's history may name the default group or leave it out.
    const items = whole.answer.json.output.map(({ namespace, ...item }: Loose) =>
      namespace === 'functions' ? item : { ...item, namespace },
    )
    const results = [
      { type: 'function_call_output', call_id: items[0].call_id, output: 'ok' },
      { type: 'custom_tool_call_output', call_id: items[1].call_id, output: 'ok' },
    ]
    const input = [...(CODEX['input'] as JsonObject[]), ...items, ...results]
    const { body, loss, answer } = await sent(format, RESPONSES_PATH, { ...CODEX, input }, { text: 'Done.' }, dialect)
    expect(answer.status, answer.text).toBe(200)
    expect(UPSTREAMS[format]!.hear(body).turns.flatMap(({ calls = [] }) => calls)).toEqual(
      calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
    )
    expect(loss).not.toContain('namespace')
  })

  test.each(FOREIGN)('%s: so do calls by the names that instructions have for them', async format => {
    const group = (name: string, ...tools: JsonObject[]) => ({ type: 'namespace', name, description: '', tools })
    const patch = { type: 'custom', name: 'patch', description: 'Edits.' }
    const asked = {
      ...CODEX,
      input: 'Go on.',
      tools: [
        group('editor', patch, member('save'), member('find')),
        group('web', member('find'), member('look')),
        { ...patch, name: 'my.patch' },
        member('look'),
      ],
    }
    const calls = [
      { id: 'c1', name: 'patch', arguments: { input: 'a' } },
      { id: 'c2', name: 'my.patch', arguments: { input: 'b' } },
      { id: 'c3', name: 'save', arguments: {} },
      { id: 'c4', name: 'find', arguments: {} },
      { id: 'c5', name: 'look', arguments: {} },
    ]
    const dialect = format === 'chat' ? { custom_tools: false } : {}
    const { answer } = await sent(format, RESPONSES_PATH, asked, { calls }, dialect)
    const [patched, dotted, saved, found, looked] = answer.json.output
    expect(patched).toMatchObject({ type: 'custom_tool_call', name: 'patch', namespace: 'editor', input: 'a' })
    expect(dotted).toMatchObject({ type: 'custom_tool_call', name: 'my.patch', input: 'b' })
    expect(saved).toMatchObject({ type: 'function_call', name: 'save', namespace: 'editor' })
    // Two groups have it, so that the call is ambiguous. A tool of exactly that name takes precedence over one in a
    // group.
    expect(found).toMatchObject({ type: 'function_call', name: 'find' })
    expect(looked).toMatchObject({ type: 'function_call', name: 'look' })
    for (const call of [dotted, found, looked]) expect(call).not.toHaveProperty('namespace')
  })

  test('the answer repeats them as tools, as OpenAI’s does', async () => {
    const { answer } = await sent('chat', RESPONSES_PATH, CODEX)
    expect(answer.json.tools.map(({ name }: Loose) => name)).toEqual(['functions', 'collaboration'])
  })

  test('tools that a search brought are tools, too', async () => {
    const search = { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'rates' } }
    const found = { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [member('get_rate')] }
    const call = { type: 'function_call', call_id: 'a', name: 'get_rate', namespace: 'get_rate', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'a', output: '1' }
    const asked = { model: 'm', tools: [member('f')], input: [said('user', 'Hi'), search, found, call, output] }
    const { body } = await sent('chat', RESPONSES_PATH, asked)
    expect(namesAt['chat']!(body)).toEqual(['f', 'get_rate'])
    expect((await sent('responses', RESPONSES_PATH, asked)).body).toEqual(asked)
  })

  test('a wrong one is the caller’s fault, as in `tools`', async () => {
    const { answer } = await sent('chat', RESPONSES_PATH, {
      ...CODEX,
      input: [{ ...ADDITIONAL, tools: [{ name: 'f' }] }],
    })
    expect(answer.status).toBe(400)
    expect(answer.json.error.param).toBe('input')
  })
})

describe('trap 108: OpenAI’s mark of a deferred function is no group', () => {
  const call = { type: 'function_call', call_id: 'a', name: 'get_weather', namespace: 'get_weather', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'a', output: 'Rain.' }
  const asked = {
    model: 'm',
    tools: [{ ...member('get_weather'), defer_loading: true }],
    input: [said('user', 'Hi'), call, output],
  }

  test.each(FOREIGN)('%s is told the name it knows, and a call of it comes back so', async format => {
    const calls = [{ id: 'b', name: 'get_weather', arguments: {} }]
    const { body, answer } = await sent(format, RESPONSES_PATH, asked, { calls })
    expect(UPSTREAMS[format]!.hear(body).turns.flatMap(({ calls = [] }) => calls)).toEqual([
      { name: 'get_weather', arguments: {} },
    ])
    const [item] = answer.json.output
    expect(item).toMatchObject({ type: 'function_call', name: 'get_weather' })
    expect(item).not.toHaveProperty('namespace')
  })

  test('natively it stays', async () => {
    expect((await sent('responses', RESPONSES_PATH, asked)).body).toEqual(asked)
  })
})

describe('trap 89: an agent without tools is no agent', () => {
  const mcp: JsonObject = { type: 'mcp', server_label: 'mail', server_url: 'https://mail.example' }
  const asked = { model: 'm', input: 'Hi' }

  test.each(FOREIGN)('%s: a loss of all tools that the client runs is refused', async format => {
    const { answer, body } = await sent(format, RESPONSES_PATH, { ...asked, tools: [mcp, { type: 'local_shell' }] })
    expect(answer.status).toBe(422)
    expect(answer.json.error.message).toContain('tools/1')
    expect(body).toBeUndefined()
  })

  test.each(FOREIGN)(
    '%s: a hosted tool that is the only one is shown, and refused where it is insisted on',
    async format => {
      const tools = [mcp]
      const shown = await sent(format, RESPONSES_PATH, { ...asked, tools })
      expect(shown.answer.status, shown.answer.text).toBe(200)
      expect(shown.body).not.toHaveProperty('tools')
      expect(shown.loss).toContain('tools/0 only-in-responses')
      for (const tool_choice of ['required', { type: 'mcp', server_label: 'mail' }]) {
        const refused = await sent(format, RESPONSES_PATH, { ...asked, tools, tool_choice })
        expect(refused.answer.status).toBe(422)
        expect(refused.answer.json.error.message).toContain('tools/0')
      }
      const strict = await sent(
        format,
        RESPONSES_PATH,
        { ...asked, tools },
        undefined,
        {},
        { 'interlingua-on-loss': 'refuse' },
      )
      expect(strict.answer.status).toBe(422)
    },
  )

  test.each(['messages', 'contents'])('%s: a copy that chat has stored is shown', async format => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const { answer, loss } = await sent(format, '/v1/chat/completions', { model: 'm', messages, store: true })
    expect(answer.status, answer.text).toBe(200)
    expect(loss).toContain('store')
  })

  test('a loss of one beside others is shown, and so is that of a tool of the upstream’s alone', async () => {
    const one = await sent('chat', RESPONSES_PATH, { ...asked, tools: [mcp, member('f')] })
    expect(one.loss).toBe('tools/0 only-in-responses')
    const search = await sent('chat', RESPONSES_PATH, { ...asked, tools: [{ type: 'web_search' }] })
    expect(search.answer.status).toBe(200)
    expect(search.loss).toBe('tools/0 no-hosted-tools')
  })

  test('nothing is to be called: nothing is lost that matters', async () => {
    const { answer } = await sent('chat', RESPONSES_PATH, { ...asked, tools: [mcp], tool_choice: 'none' })
    expect(answer.status).toBe(200)
  })

  test.each(FOREIGN)('%s: a loss of a tool the history calls is refused', async format => {
    const lost = { type: 'x_tool', name: 'draw' }
    const call = { type: 'function_call', call_id: 'a', name: 'draw', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'a', output: 'ok' }
    const input = [said('user', 'Hi'), call, output]
    const refused = await sent(format, RESPONSES_PATH, { ...asked, tools: [lost, member('f')], input })
    expect(refused.answer.status).toBe(422)
    expect(refused.answer.json.error.message).toContain('tools/0')
    expect((await sent(format, RESPONSES_PATH, { ...asked, tools: [lost, member('f')] })).answer.status).toBe(200)
  })

  test.each([...FOREIGN, 'responses'])('%s: no choice goes out where there are no tools', async format => {
    const chosen = { tool_choice: 'auto', parallel_tool_calls: false }
    const body =
      format === 'responses'
        ? await sent(format, '/v1/chat/completions', {
            model: 'm',
            messages: [{ role: 'user', content: 'Hi' }],
            ...chosen,
          })
        : await sent(format, RESPONSES_PATH, { ...asked, ...chosen })
    expect(body.answer.status, body.answer.text).toBe(200)
    for (const field of ['tool_choice', 'parallel_tool_calls', 'toolConfig'])
      expect(body.body).not.toHaveProperty(field)
    expect(body.loss).not.toMatch(/toolChoice|parallel/)
  })

  test('a choice that must be made and cannot is shown', async () => {
    const { body, loss } = await sent('chat', RESPONSES_PATH, { ...asked, tool_choice: 'required' })
    expect(body).not.toHaveProperty('tool_choice')
    expect(loss).toBe('tool_choice no-tools')
  })
})

describe('trap 73: Cursor’s flat tools at the chat endpoint', () => {
  const flat = { type: 'function', name: 'read_file', description: 'Reads.', parameters, strict: false }
  const nested = { type: 'function', function: { name: 'grep', parameters } }
  const patch = { type: 'custom', name: 'apply_patch', format: GRAMMAR }
  const asked = {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [flat, nested, { name: 'untyped', parameters }, patch],
    tool_choice: { type: 'function', name: 'read_file' },
  }

  test.each(['messages', 'contents', 'responses'])('%s is given them', async format => {
    const { body, answer, loss } = await sent(format, '/v1/chat/completions', asked)
    expect(answer.status, answer.text).toBe(200)
    const names = format === 'responses' ? body.tools.map((tool: Loose) => tool.name) : namesAt[format]!(body)
    expect(names).toEqual(['read_file', 'grep', 'untyped', 'apply_patch'])
    expect(JSON.stringify(body.tool_choice ?? body.toolConfig)).toContain('read_file')
    expect(loss.replace('max_completion_tokens limit-required', '')).toBe('')
  })

  test('natively they go unchanged', async () => {
    expect((await sent('chat', '/v1/chat/completions', asked)).body).toEqual(asked)
  })

  test('a Responses body is still sent to the responses endpoint', async () => {
    const { answer } = await sent('chat', '/v1/chat/completions', { model: 'm', input: 'Hi', tools: [flat] })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('/v1/responses')
  })

  test('what is wrong in one is named', async () => {
    const { answer } = await sent('chat', '/v1/chat/completions', { ...asked, tools: [{ ...flat, strict: 'yes' }] })
    expect(answer.status).toBe(400)
    expect(answer.json.error.param).toBe('tools.0.strict')
  })
})

describe('with losses refused', () => {
  const DIALECTS: { readonly [format: string]: JsonObject } = {
    chat: { custom_tools: false },
    contents: {},
    // If the longest answer is known, the limit that the format requires takes nothing from the request.
    messages: { max_output: 64_000 },
  }

  test.each(Object.keys(DIALECTS))('%s: an agent’s first and second turn get through', async format => {
    const dialect = DIALECTS[format]!
    const refusing = { ...CODEX, parallel_tool_calls: true }
    const headers = { 'interlingua-on-loss': 'refuse' }
    const first = await sent(format, RESPONSES_PATH, refusing, { text: 'Hm.', calls: [CALL] }, dialect, headers)
    expect(first.answer.status, first.answer.text).toBe(200)
    const [, call] = first.answer.json.output
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'ok' }
    const input = [...(CODEX['input'] as JsonObject[]), ...first.answer.json.output, result]
    const second = await sent(format, RESPONSES_PATH, { ...refusing, input }, { text: 'Done.' }, dialect, headers)
    expect(second.answer.status, second.answer.text).toBe(200)
  })

  test('messages: a limit that may cut the answer is refused', async () => {
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { 'interlingua-on-loss': 'refuse' }
    const { answer } = await sent('messages', '/v1/chat/completions', asked, { text: 'Hm.' }, {}, headers)
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('max_completion_tokens (limit-required)')
  })
})

describe('a Responses upstream that takes nothing but functions', () => {
  const PLAIN = { custom_tools: false, stateless: true }
  const CALLS = [
    { id: 'c1', name: 'exec', arguments: { input: 'ls' } },
    { id: 'c2', name: 'collaboration__spawn_agent', arguments: { a: 1 } },
  ]
  const kept = { include: ['reasoning.encrypted_content'], prompt_cache_key: 'k', client_metadata: { a: 'b' } }

  test.each([false, true])('Codex calls its tools by their own names and kinds; streamed: %s', async stream => {
    const asked = { ...CODEX, ...kept, stream }
    const { answer, body } = await sent('responses', RESPONSES_PATH, asked, { text: 'Hm.', calls: CALLS }, PLAIN)
    expect(body.tools.map(({ type, name }: Loose) => [type, name])).toEqual([
      ['function', 'exec'],
      ['function', 'wait'],
      ['function', 'collaboration__spawn_agent'],
    ])
    expect(body).toMatchObject(kept)
    expect(body.input.map(({ role }: Loose) => role)).toEqual(['developer', 'user'])
    const events: Loose[] = stream
      ? dataOf(answer.text).flatMap(data => (data === '[DONE]' ? [] : JSON.parse(data)))
      : []
    const { output } = stream ? events.findLast(({ response }) => response !== undefined).response : answer.json
    const calls = output.filter(({ type }: Loose) => type !== 'message')
    expect(calls).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c1', name: 'exec', namespace: 'functions', input: 'ls' },
      { type: 'function_call', call_id: 'c2', name: 'spawn_agent', namespace: 'collaboration', arguments: '{"a":1}' },
    ])
    if (stream) {
      const typed = events.filter(({ type }: Loose) => type === 'response.custom_tool_call_input.delta')
      expect(typed.map(({ delta }: Loose) => delta).join('')).toBe('ls')
      const done = events.filter(({ type }: Loose) => type === 'response.output_item.done')
      expect(done.slice(-2).map(({ item }: Loose) => item)).toEqual(calls)
    }
    expect(answer.headers['interlingua-loss']).toBeUndefined()

    const results = [
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'a.txt' },
      { type: 'function_call_output', call_id: 'c2', output: 'ok' },
    ]
    const input = [...(CODEX['input'] as JsonObject[]), ...output, ...results]
    const second = await sent('responses', RESPONSES_PATH, { ...asked, input }, { text: 'Done.' }, PLAIN)
    expect(second.body.input.slice(2)).toMatchObject([
      { type: 'message', role: 'assistant' },
      { type: 'function_call', call_id: 'c1', name: 'exec', arguments: '{"input":"ls"}' },
      { type: 'function_call', call_id: 'c2', name: 'collaboration__spawn_agent', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
      { type: 'function_call_output', call_id: 'c2', output: 'ok' },
    ])
  })

  test('tools of an item are tools of the request', async () => {
    const item = { ...ADDITIONAL, tools: [member('wait')] }
    const { body } = await sent(
      'responses',
      RESPONSES_PATH,
      { ...CODEX, input: [item, said('user', 'Go.')] },
      {},
      PLAIN,
    )
    expect(body.tools).toEqual([member('wait')])
    expect(body.input).toMatchObject([{ role: 'user' }])
  })

  test('an image that was drawn earlier stays in the history', async () => {
    const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' }
    const input = [...(CODEX['input'] as JsonObject[]), drawn, said('user', 'Now in red.')]
    const { body } = await sent('responses', RESPONSES_PATH, { ...CODEX, input }, {}, PLAIN)
    expect(body.input.at(-2)).toEqual(drawn)
  })

  test('everything else passes as it came, and so do these tools where they are taken', async () => {
    const plain = { ...CODEX, input: [said('user', 'Go on.')], tools: [member('wait'), { type: 'tool_search' }] }
    const { stream: _, ...asKnown } = (await sent('responses', RESPONSES_PATH, plain, {}, PLAIN)).body
    expect(asKnown).toEqual(plain)
    expect((await sent('responses', RESPONSES_PATH, CODEX)).body).toEqual(CODEX)
  })
})

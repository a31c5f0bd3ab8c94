import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import type { ChannelConfig, Config } from '../../src/config/index.ts'
import { chunk, events, HEAD, json, TAIL } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { OTHER_KEY, type TestServerOptions } from '../builders/config.ts'
import { until } from '../builders/time.ts'
import { PROOF } from '../clients/scene.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { Client } from '../sockets/client.ts'
import { ASKED, CALL, history, Remembering, THINKS, Thinker, TOOLS } from './test-server.ts'

const closing = closingAfterEach()

/** Starts a gateway with upstreams of these formats. */
async function open(
  formats: readonly string[],
  channels?: (thinkers: readonly Thinker[]) => ChannelConfig[],
  options: TestServerOptions = {},
) {
  const thinkers = await Promise.all(formats.map(format => Thinker.open(format)))
  const gateway = await Remembering.open(thinkers, channels?.(thinkers), options)
  closing.push(() => gateway.close())
  return { gateway, thinkers, thinker: thinkers[0]! }
}

const BACK = history(CALL)
const OFF: Partial<Config> = { reasoningMemory: { retention: 0, memory: 2 ** 20 } }

describe.each([false, true])('streamed: %s', stream => {
  test.each(['messages', 'responses', 'contents'])('traps 26, 31, 33: a signature returns to %s', async format => {
    const { gateway, thinker } = await open([format])
    thinker.scenes = [THINKS]
    expect((await gateway.chat([ASKED], { stream })).status).toBe(200)
    const second = await gateway.chat(BACK, { stream })
    expect(thinker.proofs).toEqual([PROOF])
    expect(second.headers['interlingua-added']).toMatch(/messages\/1\S* remembered-thought$/)
    expect(gateway.testServer.lines.at(-1)!.fields).toMatchObject({ thoughts_put_back: expect.any(Number) })
    expect(JSON.stringify(gateway.testServer.lines)).not.toContain('The clock knows.')
  })

  test.each(['messages', 'contents'])(
    'a signature returns to %s for a client that numbers the calls of other vendors anew (Agno)',
    async format => {
      const { gateway, thinker } = await open([format])
      const [first, second] = [0, 1].map(n => ({ ...CALL, id: `call_${String(n).padStart(35, '0')}` }))
      thinker.scenes = [THINKS, { thought: 'Once more.', calls: [{ ...CALL, id: 'toolu_09Zz8Yy7Xx6Ww5' }] }]
      await gateway.chat([ASKED], { stream })
      await gateway.chat(history(first!), { stream })
      expect(thinker.proofs).toEqual([PROOF])
      await gateway.chat([...history(first!), ...history(second!).slice(1)], { stream })
      expect(thinker.proofs).toEqual([PROOF, PROOF])
    },
  )

  test('trap 35: unsigned reasoning returns to a chat upstream that accepts it, also from native callers', async () => {
    const { gateway, thinker } = await open(['chat'], ([one]) => [one!.channel({}, { reasoning_field: 'reasoning' })])
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED], { stream })
    const second = await gateway.chat(BACK, { stream })
    expect(second.status).toBe(200)
    expect(thinker.body().messages[1]).toEqual({ ...BACK[1], reasoning: 'The clock knows.' })
    expect(thinker.body().messages[2]).toEqual(BACK[2])
  })

  test('trap 36: a chat upstream that does not declare it gets the request unchanged', async () => {
    const { gateway, thinker } = await open(['chat'])
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED], { stream })
    const second = await gateway.chat(BACK, { stream })
    expect(thinker.body().messages).toEqual(BACK)
    expect(second.headers['interlingua-loss']).toBeUndefined()
    expect(gateway.testServer.lines.at(-1)!.fields).not.toHaveProperty('thoughts_put_back', expect.anything())
  })

  test('reasoning of parallel calls is restored once, before the first call', async () => {
    const { gateway, thinker } = await open(['messages'])
    const other = { ...CALL, id: 'toolu_09Zz8Yy7Xx6Ww5' }
    thinker.scenes = [{ thought: 'Two clocks.', text: 'Let me see.', calls: [CALL, other] }]
    await gateway.chat([ASKED], { stream })
    const [asked, turn, ...results] = history(CALL, other)
    await gateway.chat([asked!, { ...turn, content: 'Let me see.' }, ...results], { stream })
    expect(thinker.body().messages[1].content.map(({ type }: { type: string }) => type)).toEqual([
      ...['thinking', 'text', 'tool_use', 'tool_use'],
    ])
  })

  test('a caller that refuses losses is not refused because of restored reasoning', async () => {
    const { gateway, thinker } = await open(['messages'])
    thinker.scenes = [THINKS]
    const headers = { 'interlingua-on-loss': 'refuse' }
    await gateway.chat([ASKED], { stream, max_tokens: 500 })
    const second = await gateway.chat(BACK, { stream, headers, max_tokens: 500 })
    expect(second.status, second.text).toBe(200)
    expect(thinker.proofs).toEqual([PROOF])
  })
})

describe('the details that a chat upstream demands back', () => {
  const DETAILS = [{ type: 'reasoning.encrypted', data: 'c2VjcmV0', id: CALL.id, format: 'google-gemini-v1', index: 0 }]
  const called = { id: CALL.id, type: 'function', function: { name: CALL.name, arguments: '{}' } }

  test.each([
    ['a chat caller that drops them', {}],
    ['whatever the dialect declares', { reasoning_field: 'reasoning' }],
  ])('come from memory: %s', async (_, dialect) => {
    const { gateway, thinker } = await open(['chat'], ([one]) => [one!.channel({}, dialect)])
    const message = { role: 'assistant', content: null, reasoning_details: DETAILS, tool_calls: [called] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    thinker.upstream.script = response => json(response, { id: 'a', object: 'chat.completion', created: 1, choices })
    expect((await gateway.chat([ASKED])).json.choices[0].message.reasoning_details).toEqual(DETAILS)
    thinker.upstream.script = thinker.answer
    await gateway.chat(BACK)
    expect(thinker.body().messages[1]).toEqual({ ...BACK[1], reasoning_details: DETAILS })
    const returned = BACK.map(turn => (turn['role'] === 'assistant' ? { ...turn, reasoning_details: DETAILS } : turn))
    const again = await gateway.chat(returned)
    expect(thinker.body().messages).toEqual(returned)
    expect(again.headers['interlingua-added']).toBeUndefined()
  })

  test('never reach another account, which would refuse them', async () => {
    const { gateway, thinkers } = await open(['chat', 'chat'], ([a, b]) => [
      a!.channel({ name: 'a' }),
      b!.channel({ name: 'b', priority: 1 }),
    ])
    const [a, b] = thinkers as [Thinker, Thinker]
    const message = { role: 'assistant', content: null, reasoning_details: DETAILS, tool_calls: [called] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    a.upstream.script = response => json(response, { id: 'a', object: 'chat.completion', created: 1, choices })
    await gateway.chat([ASKED])
    a.upstream.script = response => json(response, { error: { message: 'no' } }, 500)
    await gateway.chat(
      BACK.map(turn => (turn['role'] === 'assistant' ? { ...turn, reasoning_details: DETAILS } : turn)),
    )
    expect(a.body().messages[1].reasoning_details).toEqual(DETAILS)
    expect(b.body().messages[1]).toEqual(BACK[1])
  })
})

describe('the owner of the reasoning', () => {
  test('another caller with the same call id gets nothing', async () => {
    const { gateway, thinker } = await open(['messages'])
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED])
    await gateway.chat(BACK, { key: OTHER_KEY })
    expect(thinker.proofs).toEqual([])
    thinker.scenes = [{ ...THINKS, thought: 'Another thought.' }]
    await gateway.chat([ASKED], { key: OTHER_KEY })
    await gateway.chat(BACK)
    expect(thinker.body().messages[1].content[0].thinking).toBe('The clock knows.')
    await gateway.chat(BACK, { key: OTHER_KEY })
    expect(thinker.body().messages[1].content[0].thinking).toBe('Another thought.')
  })

  test('trap 30: another issuer (key, address or model) gets no signature', async () => {
    const { gateway, thinkers } = await open(['messages', 'messages'], ([a]) => [a!.channel({ name: 'a' })])
    const [a, b] = thinkers as [Thinker, Thinker]
    const model = { named: new Map([['m', 'other']]), patterns: [] }
    a.scenes = [THINKS]
    await gateway.chat([ASKED])
    for (const channel of [
      b.channel({ name: 'a' }),
      a.channel({ name: 'a', key: 'another-key' }),
      a.channel({ name: 'a', models: model }),
    ]) {
      gateway.reload([channel])
      const second = await gateway.chat(BACK)
      expect(second.status).toBe(200)
      expect([a, b].flatMap(({ upstream }) => upstream.seen).at(-1)).toBeDefined()
      expect(JSON.stringify([a, b].flatMap(one => one.upstream.seen.map(({ text }) => text)))).not.toContain(PROOF)
    }
    gateway.reload([a.channel({ name: 'renamed' })])
    await gateway.chat(BACK)
    expect(a.proofs).toEqual([PROOF])
  })

  test('reasoning without a signature goes to any chat upstream that accepts it', async () => {
    const { gateway, thinkers } = await open(['chat', 'chat'], ([a]) => [
      a!.channel({}, { reasoning_field: 'reasoning' }),
    ])
    const [a, b] = thinkers as [Thinker, Thinker]
    a.scenes = [THINKS]
    await gateway.chat([ASKED])
    gateway.reload([b.channel({ name: 'b' }, { reasoning_field: 'reasoning_content' })])
    await gateway.chat(BACK)
    expect(b.body().messages[1].reasoning_content).toBe('The clock knows.')
    gateway.reload([b.channel({ name: 'b' })])
    await gateway.chat(BACK)
    expect(b.body().messages).toEqual(BACK)
  })

  test('another upstream is requested without the reasoning, and the issuer with it', async () => {
    const { gateway, thinkers } = await open(['messages', 'messages'], ([a, b]) => [
      a!.channel({ name: 'a' }),
      b!.channel({ name: 'b', priority: 1 }),
    ])
    const [a, b] = thinkers as [Thinker, Thinker]
    a.scenes = [THINKS]
    await gateway.chat([ASKED])
    a.upstream.script = response => json(response, { type: 'error', error: { type: 'api_error', message: 'no' } }, 500)
    expect((await gateway.chat(BACK)).status).toBe(200)
    expect(a.proofs).toEqual([PROOF])
    expect(b.proofs).toEqual([])
    a.upstream.script = a.answer
    gateway.reload([a.channel({ name: 'a', weight: 2 }), b.channel({ name: 'b', priority: 1 })])
    await gateway.chat(BACK)
    expect(a.proofs).toEqual([PROOF])
  })

  test('trap 33: of equal channels, the issuer of the reasoning is used again', async () => {
    const { gateway, thinkers } = await open(['messages', 'messages'], ([a, b]) => [
      a!.channel({ name: 'a' }),
      b!.channel({ name: 'b' }),
    ])
    const [a, b] = thinkers as [Thinker, Thinker]
    a.scenes = [THINKS]
    b.scenes = [THINKS]
    await gateway.chat([ASKED])
    const maker = a.upstream.seen.length === 1 ? a : b
    for (let turn = 0; turn < 8; turn++) await gateway.chat(BACK)
    expect(maker.upstream.seen).toHaveLength(9)
    expect(maker.proofs).toEqual([PROOF])
  })
})

describe('the remembered reasoning and its lifetime', () => {
  test('nothing if storing is off, also after a reload', async () => {
    const { gateway, thinker } = await open(['messages'], undefined, { config: OFF })
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED])
    await gateway.chat(BACK)
    expect(thinker.proofs).toEqual([])
    thinker.scenes = [THINKS]
    gateway.reload([thinker.channel()], { reasoningMemory: { retention: 3_600_000, memory: 2 ** 20 } })
    await gateway.chat([ASKED])
    await gateway.chat(BACK)
    expect(thinker.proofs).toEqual([PROOF])
    gateway.reload([thinker.channel()], { reasoningMemory: { retention: 7_200_000, memory: 2 ** 20 } })
    await gateway.chat(BACK)
    expect(thinker.proofs, 'a reload keeps what is kept').toEqual([PROOF])
    gateway.reload([thinker.channel()], OFF)
    gateway.reload([thinker.channel()], { reasoningMemory: { retention: 3_600_000, memory: 2 ** 20 } })
    await gateway.chat(BACK)
    expect(thinker.proofs, 'what was switched off is gone').toEqual([])
  })

  test('nothing of another call with the same id', async () => {
    const { gateway, thinker } = await open(['messages'])
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED])
    thinker.scenes = [{ calls: [CALL] }]
    await gateway.chat([ASKED], { stream: true })
    await gateway.chat(BACK)
    expect(thinker.proofs).toEqual([])
  })

  test('nothing of an answer that breaks off', async () => {
    const { gateway, thinker } = await open(['chat'], ([one]) => [one!.channel({}, { reasoning_field: 'reasoning' })])
    const call = { index: 0, id: CALL.id, type: 'function', function: { name: CALL.name, arguments: '{}' } }
    const begun = HEAD + chunk({ reasoning: 'Half a tho' }) + chunk({ tool_calls: [call] })
    thinker.upstream.script = response => events(response).write(begun, () => response.destroy())
    expect((await gateway.chat([ASKED], { stream: true })).text).toContain('"error"')
    thinker.upstream.script = response => events(response).end(`${begun}data: {"error":{"message":"no"}}\n\n`)
    expect((await gateway.chat([ASKED], { stream: true })).text).toContain('"error"')
    thinker.upstream.script = thinker.answer
    await gateway.chat(BACK)
    expect(thinker.body().messages).toEqual(BACK)
    thinker.upstream.script = response => events(response).end(begun + TAIL)
    await gateway.chat([ASKED], { stream: true })
    thinker.upstream.script = thinker.answer
    await gateway.chat(BACK)
    expect(thinker.body().messages[1].reasoning).toBe('Half a tho')
  })

  test('a turn that already has a signature is not changed', async () => {
    const { gateway, thinker } = await open(['messages'])
    thinker.scenes = [THINKS]
    const ask = (messages: readonly unknown[]) =>
      gateway.testServer.ask(
        '/v1/messages',
        { model: 'm', max_tokens: 100, messages, tools: [{ name: 'get_time', input_schema: { type: 'object' } }] },
        { headers: { 'anthropic-version': '2023-06-01' } },
      )
    await ask([ASKED])
    const call = { type: 'tool_use', id: CALL.id, name: CALL.name, input: CALL.arguments }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: CALL.id, content: 'noon' }] }
    const own = { type: 'thinking', thinking: 'Mine.', signature: 'b3du' }
    const handed = await ask([ASKED, { role: 'assistant', content: [own, call] }, result])
    expect(thinker.body().messages[1].content).toEqual([own, call])
    expect(handed.headers['interlingua-loss']).toBeUndefined()
    await ask([ASKED, { role: 'assistant', content: [call] }, result])
    expect(thinker.proofs).toEqual([PROOF])
  })
})

describe('a signature that is bound to the history before it', () => {
  const NEWER = [
    ...TOOLS,
    { type: 'function', function: { name: 'more', parameters: { type: 'object', properties: {} } } },
  ]
  const [, turn, result] = BACK
  const BOUND = { bound_proofs: true }
  const bound = () => open(['messages'], ([one]) => [one!.channel({}, BOUND)])

  test.each([
    ['instructions', [{ role: 'system', content: 'It is Monday.' }, ...BACK], TOOLS],
    ['words', [{ role: 'user', content: 'What day is it?' }, turn!, result!], TOOLS],
    ['tools', BACK, NEWER],
  ])('does not go back where %s changed', async (_, messages, tools) => {
    const { gateway, thinker } = await bound()
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED])
    await gateway.chat(messages, { tools })
    expect(thinker.proofs).toEqual([])
    await gateway.chat(BACK)
    expect(thinker.proofs).toEqual([PROOF])
  })

  test('is not restored if earlier reasoning is forgotten, unless it was made without that reasoning', async () => {
    const { gateway, thinker } = await bound()
    const ids = [1, 2, 3, 4].map(index => `toolu_0${index}Ab2Cd3Ef4Gh5`)
    thinker.scenes = ids.map(id => ({ thought: `Thought of ${id}`, calls: [{ ...CALL, id }] }))
    const put: number[] = []
    let messages: readonly JsonObject[] = [ASKED]
    for (const [index, id] of ids.entries()) {
      await gateway.chat(messages)
      put.push(thinker.proofs.length)
      messages = [...messages, ...history({ ...CALL, id }).slice(1)]
      // The first one was evicted.
      if (index === 1)
        gateway.reload([thinker.channel({}, BOUND)], { reasoningMemory: { retention: 3_600_000, memory: 3000 } })
      if (index === 1) gateway.reload([thinker.channel({}, BOUND)])
    }
    await gateway.chat(messages)
    expect([...put, thinker.proofs.length]).toEqual([0, 1, 0, 1, 2])
  })

  test.each(['contents', 'messages'])('signatures of other issuers of %s are not bound and return', async format => {
    const { gateway, thinker } = await open([format])
    thinker.scenes = [THINKS]
    await gateway.chat([ASKED])
    await gateway.chat([{ role: 'system', content: 'It is Monday.' }, ...BACK])
    expect(thinker.proofs).toEqual([PROOF])
  })
})

describe('calls with ids that are not unique', () => {
  const KIMI = { ...CALL, id: 'functions.get_time:0' }
  const kimi = () => open(['chat'], ([one]) => [one!.channel({}, { reasoning_field: 'reasoning_content' })])

  test('each conversation has its own reasoning', async () => {
    const { gateway, thinker } = await kimi()
    const other = { role: 'user', content: 'What is the time?' }
    thinker.scenes = [
      { thought: 'First.', calls: [KIMI] },
      { thought: 'Second.', calls: [KIMI] },
    ]
    await gateway.chat([ASKED])
    await gateway.chat([other])
    const [, turn, result] = history(KIMI)
    const thoughtOf = async (first: typeof ASKED) => {
      await gateway.chat([first, turn!, result!])
      return thinker.body().messages[1].reasoning_content
    }
    expect(await thoughtOf(ASKED)).toBe('First.')
    expect(await thoughtOf(other)).toBe('Second.')
    expect(await thoughtOf({ role: 'user', content: 'Somebody else’s.' })).toBeUndefined()
  })

  test('cut results and changed instructions make no difference', async () => {
    const { gateway, thinker } = await kimi()
    thinker.scenes = [{ thought: 'First.', calls: [KIMI] }]
    await gateway.chat([ASKED])
    const [asked, turn, result] = history(KIMI)
    await gateway.chat([{ role: 'system', content: 'Today.' }, asked!, turn!, { ...result, content: '[cut]' }])
    expect(thinker.body().messages[2].reasoning_content).toBe('First.')
  })
})

describe('other kinds of requests', () => {
  const functions = [
    { type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} }, strict: false },
  ]
  const output = { type: 'function_call_output', call_id: CALL.id, output: 'noon' }
  const called = { type: 'function_call', call_id: CALL.id, name: CALL.name, arguments: JSON.stringify(CALL.arguments) }

  test('a socket', async () => {
    const { gateway, thinker } = await open(['messages'])
    const client = await Client.open(gateway.testServer.server.address)
    closing.push(() => client.socket.terminate())
    thinker.scenes = [THINKS]
    await client.turn({ input: 'What time is it?', tools: functions, store: false })
    await client.turn({
      input: [{ role: 'user', content: 'What time is it?' }, called, output],
      tools: functions,
      store: false,
    })
    expect(thinker.proofs).toEqual([PROOF])
  })

  test('background responses and their continuations', async () => {
    const { path, drop } = scratch()
    closing.push(drop)
    const { gateway, thinker } = await open(['messages'], undefined, { keep: path })
    thinker.scenes = [THINKS]
    const asked = { model: 'm', input: 'What time is it?', tools: functions }
    const begun = await gateway.testServer.ask('/v1/responses', { ...asked, background: true })
    await until(() => gateway.testServer.lines.some(({ fields }) => fields['finish'] === 'tool-calls'))
    const full = [{ role: 'user', content: 'What time is it?' }, called, output]
    await gateway.testServer.ask('/v1/responses', { ...asked, input: full })
    expect(thinker.proofs).toEqual([PROOF])
    const follow = { ...asked, input: [output], previous_response_id: begun.json.id }
    expect((await gateway.testServer.ask('/v1/responses', follow)).status).toBe(200)
    expect(thinker.proofs, 'its own answer was kept with its proof').toEqual([PROOF])
  })
})

test('the upstreams of the tests send reasoning', () => {
  for (const format of ['messages', 'responses', 'contents'])
    expect(JSON.stringify(UPSTREAMS[format]!.whole(THINKS))).toContain(PROOF)
})

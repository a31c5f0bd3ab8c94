import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/read.ts'
import { ANSWER, ASK, events, failure, HEAD, json, TAIL, words } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH, MESSAGES_PATH, RESPONSES_PATH } from '../builders/paths.ts'
import { TIMED } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { openUpstream, openGateway } = opener()

const answering: Script = response => json(response, ANSWER)
const failing =
  (status: number, message = 'Broken.', fields = {}): Script =>
  response =>
    json(response, failure(message, fields), status)
const TOO_LONG = failing(400, "This model's maximum context length is 100 tokens.", { code: 'context_length_exceeded' })
const refused = {
  ...ANSWER,
  choices: [{ ...ANSWER.choices[0], message: { role: 'assistant', content: null, refusal: 'No.' } }],
}

/** A gateway with an upstream for each model, and the rest of a config as YAML. */
async function open(scripts: { readonly [model: string]: Script }, yaml: string, group = {}) {
  const upstreams = new Map<string, Awaited<ReturnType<typeof openUpstream>>>()
  for (const [model, script] of Object.entries(scripts)) upstreams.set(model, await openUpstream(script))
  const channels = [...upstreams].map(([model, { address }]) =>
    channelAt(address, {
      name: `channel-${model}`,
      format: model === 'lossy' ? 'messages' : model.startsWith('vectors') ? 'embeddings' : 'chat',
      models: { named: new Map([[model, model]]), patterns: [] },
    }),
  )
  const { models, groups } = readConfig(`${yaml}\nchannels: []`, {})
  const { fallbacks } = groups.get('default')!
  const gateway = await openGateway(channels, {
    config: { models },
    group: { ...group, ...(fallbacks && { fallbacks }) },
  })
  const seen = (model: string): number => upstreams.get(model)!.seen.length
  const logged = () => gateway.lines.findLast(({ message }) => message === 'request')!.fields
  return { gateway, seen, logged, upstreams }
}

const FALLBACKS = (on = '') => `models: { m: { fallbacks: [{ model: other${on} }] } }`

const VECTORS = '/v1/embeddings'
const embedding: Script = response =>
  json(response, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1, 2] }] })

describe('vectors, which nobody can compare with those of another model', TIMED, () => {
  test.each(['failure', 'budget'])('come from no fallback of the group (%s)', async reason => {
    const group = 'groups: { default: { models: ["*"], fallbacks: [vectors-other] } }'
    const prices = 'models: { vectors: { price: { input: 1000 } }, vectors-other: { price: { input: 0 } } }'
    const { gateway, seen } = await open(
      { vectors: failing(500), 'vectors-other': embedding },
      `${group}\n${prices}`,
      reason === 'budget' ? { budget: { day: 1e-9 } } : {},
    )
    const { status, headers } = await gateway.ask(VECTORS, { model: 'vectors', input: 'a' })
    expect([status >= 400, headers['interlingua-fallback'], seen('vectors-other')]).toEqual([true, undefined, 0])
  })

  test('come from the fallback that the model itself has', async () => {
    const { gateway } = await open(
      { vectors: failing(500), 'vectors-other': embedding },
      'models: { vectors: { fallbacks: [vectors-other] } }',
    )
    const { status, headers } = await gateway.ask(VECTORS, { model: 'vectors', input: 'a' })
    expect([status, headers['interlingua-fallback']]).toEqual([200, 'failure'])
  })
})

describe('a fallback model', TIMED, () => {
  test('answers after the channels of the model, under its own name; header and log say why', async () => {
    const other: Script = response => json(response, { ...ANSWER, model: 'other' })
    const { gateway, seen, logged } = await open({ m: failing(500), other }, FALLBACKS())
    const { status, json: answer, headers } = await gateway.ask(CHAT_PATH, ASK)
    expect([status, answer.model, headers['interlingua-fallback']]).toEqual([200, 'other', 'failure'])
    expect([seen('m'), seen('other')]).toEqual([1, 1])
    expect(logged()).toMatchObject({ model: 'other', requested_model: 'm', fallback: 'failure', status: 200 })
  })

  test('says its name where the upstream calls the model otherwise', async () => {
    const upstream = await openUpstream(response => json(response, { ...ANSWER, model: 'deployment' }))
    const broken = await openUpstream(failing(500))
    const { models } = readConfig(`${FALLBACKS()}\nchannels: []`, {})
    const gateway = await openGateway(
      [
        channelAt(broken.address),
        channelAt(upstream.address, { name: 'o', models: { named: new Map([['other', 'deployment']]), patterns: [] } }),
      ],
      { config: { models } },
    )
    expect((await gateway.ask(CHAT_PATH, ASK)).json.model).toBe('other')
    expect(JSON.parse(upstream.seen[0]!.text).model).toBe('deployment')
    const message = { model: 'm', max_tokens: 9, messages: ASK.messages }
    const version = { headers: { 'anthropic-version': '2023-06-01' } }
    expect((await gateway.ask(MESSAGES_PATH, message, version)).json.model).toBe('other')
    expect((await gateway.ask(RESPONSES_PATH, { model: 'm', input: 'Hi.' })).json.model).toBe('other')
  })

  test.each([
    ['rate-limit', 429, true],
    ['failure', 429, false],
    ['rate-limit', 503, false],
    ['failure', 503, true],
    ['failure', 401, true],
    ['failure', 400, false],
  ])('of reason %s follows a %d: %s', async (reason, status, isTaken) => {
    const { gateway, seen } = await open({ m: failing(status), other: answering }, FALLBACKS(`, on: [${reason}]`))
    expect((await gateway.ask(CHAT_PATH, ASK)).status === 200).toBe(isTaken)
    expect(seen('other')).toBe(isTaken ? 1 : 0)
  })

  test('that fails leads to the next; the failure of the requested model is reported if all fail', async () => {
    const yaml = 'models: { m: { fallbacks: [second, third] } }'
    const { gateway, upstreams } = await open({ m: failing(429), second: failing(500), third: answering }, yaml)
    expect((await gateway.ask(CHAT_PATH, ASK)).headers['interlingua-fallback']).toBe('failure')
    upstreams.get('third')!.script = failing(500)
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(429)
  })

  test('of a group serves models without their own', async () => {
    const { gateway, seen } = await open(
      { m: failing(500), other: answering },
      'groups: { default: { fallbacks: [other] } }',
    )
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(seen('other')).toBe(1)
  })

  test('streams, as long as the requested model has sent nothing', async () => {
    const { gateway, upstreams } = await open(
      { m: failing(503), other: response => events(response).end(HEAD + words('Hi.') + TAIL) },
      FALLBACKS(),
    )
    const streamed = await gateway.ask(CHAT_PATH, { ...ASK, stream: true })
    expect(streamed.headers['interlingua-fallback']).toBe('failure')
    expect(streamed.text).toContain('Hi.')
    upstreams.get('m')!.script = response => {
      events(response).write(HEAD + words('Once'))
      setTimeout(() => response.destroy(), 50)
    }
    const broken = await gateway.ask(CHAT_PATH, { ...ASK, stream: true })
    expect(broken.headers['interlingua-fallback']).toBeUndefined()
    expect(broken.text).toContain('Once')
    expect(broken.text).not.toContain('Hi.')
  })

  test('is not tried if the key may not use it', async () => {
    const { gateway, seen } = await open({ m: failing(500), other: answering }, FALLBACKS(), { models: ['m'] })
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(seen('other')).toBe(0)
  })

  test('is not sent what the caller refuses to lose', async () => {
    const yaml = 'models: { m: { fallbacks: [lossy, other] } }'
    const scripts = { m: failing(500), lossy: answering, other: answering }
    const { gateway, seen } = await open(scripts, yaml, { onLoss: 'refuse' })
    const { status, headers } = await gateway.ask(CHAT_PATH, { ...ASK, seed: 3 })
    expect([status, headers['interlingua-fallback']]).toEqual([200, 'failure'])
    expect([seen('lossy'), seen('other')]).toEqual([0, 1])
  })
})

describe('a fallback with a larger context window', TIMED, () => {
  const sizes = (m: number, small: number) =>
    `models: { m: { context: ${m}, fallbacks: [{ model: small, on: [context] }, { model: large, on: [context] }] }, small: { context: ${small} }, large: { context: 1000000 } }`

  test('is taken when the upstream calls the request too long; smaller ones are left out', async () => {
    const { gateway, seen } = await open({ m: TOO_LONG, small: answering, large: answering }, sizes(100, 100))
    expect((await gateway.ask(CHAT_PATH, ASK)).headers['interlingua-fallback']).toBe('context')
    expect([seen('small'), seen('large')]).toEqual([0, 1])
  })

  test('knows the sizes of models from the catalogue', async () => {
    const yaml =
      'models: { gpt-4: { fallbacks: [{ model: gpt-4-0613, on: [context] }, { model: gpt-4o, on: [context] }] } }'
    const scripts = { 'gpt-4': TOO_LONG, 'gpt-4-0613': answering, 'gpt-4o': answering }
    const { gateway, seen } = await open(scripts, yaml)
    const words = { role: 'user', content: 'word '.repeat(30_000) }
    const answer = await gateway.ask(CHAT_PATH, { ...ASK, model: 'gpt-4', messages: [words] })
    expect(answer.headers['interlingua-fallback']).toBe('context')
    expect(['gpt-4', 'gpt-4-0613', 'gpt-4o'].map(seen)).toEqual([0, 0, 1])
  })

  test('is taken at once if the request surely exceeds the window', async () => {
    const { gateway, seen } = await open({ m: answering, small: answering, large: answering }, sizes(100, 200))
    const long = { ...ASK, messages: [{ role: 'user', content: 'word '.repeat(1000) }] }
    expect((await gateway.ask(CHAT_PATH, long)).headers['interlingua-fallback']).toBe('context')
    expect(seen('m')).toBe(0)
    expect((await gateway.ask(CHAT_PATH, ASK)).headers['interlingua-fallback']).toBeUndefined()
    expect(seen('m')).toBe(1)
  })
})

describe('a fallback after a refusal', TIMED, () => {
  const yaml = FALLBACKS(', on: [refusal]')

  test('answers in place of a model that refused, or whose filter did', async () => {
    const { gateway, upstreams, logged } = await open(
      { m: response => json(response, refused), other: answering },
      yaml,
    )
    const { json: answer, headers } = await gateway.ask(CHAT_PATH, ASK)
    expect([answer.choices[0].message.content, headers['interlingua-fallback']]).toEqual(['Hello.', 'refusal'])
    expect(logged()).toMatchObject({ fallback: 'refusal' })
    upstreams.get('m')!.script = failing(400, 'Filtered.', { code: 'content_policy_violation' })
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  })

  // OpenAI's old image models; Azure; OpenAI's images; Alibaba Cloud.
  test.each(['content_policy_violation', 'content_filter', 'moderation_blocked', 'data_inspection_failed'])(
    'answers in place of an upstream whose filter refuses with 400 %s',
    async code => {
      const { gateway } = await open({ m: failing(400, 'Filtered.', { code }), other: answering }, yaml)
      const { status, headers } = await gateway.ask(CHAT_PATH, ASK)
      expect([status, headers['interlingua-fallback']]).toEqual([200, 'refusal'])
    },
  )

  test('leaves the refusal in place if it fails itself, and nothing rests', async () => {
    const { gateway, logged, seen } = await open({ m: response => json(response, refused), other: failing(500) }, yaml)
    for (let index = 1; index <= 2; index++) {
      const { status, json: answer, headers } = await gateway.ask(CHAT_PATH, ASK)
      expect([status, answer.choices[0].message.refusal]).toEqual([200, 'No.'])
      expect(headers['interlingua-fallback']).toBeUndefined()
      expect(logged()).toMatchObject({ model: 'm', status: 200 })
      expect(seen('m')).toBe(index)
    }
  })
})

describe('a fallback for a budget', TIMED, () => {
  const priced = (on: string) =>
    `models: { m: { price: { input: 1000, output: 1000 }, fallbacks: [{ model: other, on: [${on}] }] }, other: { price: { input: 0.001, output: 0.001 } } }`
  const group = { budget: { day: 0.001 } }
  const long = { ...ASK, max_tokens: 100 }

  test('answers if the budget does not cover the requested model', async () => {
    const { gateway, seen } = await open({ m: answering, other: answering }, priced('budget'), group)
    const { status, headers } = await gateway.ask(CHAT_PATH, long)
    expect([status, headers['interlingua-fallback'], seen('m'), seen('other')]).toEqual([200, 'budget', 0, 1])
  })

  test('must be covered by it, also if the request is certainly too long for its model', async () => {
    const sized = (dollars: number) =>
      `models: { m: { context: 100, price: { input: 0.001, output: 0.001 }, fallbacks: [{ model: other, on: [context] }] }, other: { price: { input: ${dollars}, output: ${dollars} } } }`
    const tooLong = { ...long, messages: [{ role: 'user', content: 'word '.repeat(1000) }] }
    for (const [dollars, taken] of [
      [1000, [400, 1, 0]],
      [0.001, [200, 0, 1]],
    ] as const) {
      const { gateway, seen } = await open({ m: TOO_LONG, other: answering }, sized(dollars), group)
      expect([(await gateway.ask(CHAT_PATH, tooLong)).status, seen('m'), seen('other')]).toEqual(taken)
    }
  })

  test('of another reason does not', async () => {
    const { gateway, seen } = await open({ m: answering, other: answering }, priced('failure'), group)
    expect((await gateway.ask(CHAT_PATH, long)).status).toBe(429)
    expect(seen('m') + seen('other')).toBe(0)
  })

  test('holds for every fallback: one that is too expensive is left out', async () => {
    const yaml =
      'models: { m: { price: { input: 0.001, output: 0.001 }, fallbacks: [dear, cheap] }, dear: { price: { input: 1000, output: 1000 } }, cheap: { price: { input: 0.001, output: 0.001 } } }'
    const { gateway, seen } = await open({ m: failing(500), dear: answering, cheap: answering }, yaml, group)
    expect((await gateway.ask(CHAT_PATH, long)).status).toBe(200)
    expect([seen('dear'), seen('cheap')]).toEqual([0, 1])
  })

  test('answers if the price of the requested model is unknown and the budget refuses that', async () => {
    const yaml =
      'models: { m: { fallbacks: [{ model: other, on: [budget] }] }, other: { price: { input: 1, output: 1 } } }'
    const { gateway, seen } = await open({ m: answering, other: answering }, yaml, {
      budget: { day: 9, unknown: 'refuse' },
    })
    expect((await gateway.ask(CHAT_PATH, long)).headers['interlingua-fallback']).toBe('budget')
    expect([seen('m'), seen('other')]).toEqual([0, 1])
  })
})

test('gets the settings of a Claude that thinks in another way', async () => {
  const thinking = { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } }
  const clearing = { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }
  const message = { max_tokens: 128_000, ...thinking, ...clearing, messages: [{ role: 'user', content: 'hi' }] }
  const overloaded = await openUpstream(failing(529))
  const older = await openUpstream((response, { text }) => {
    const { type } = JSON.parse(text).thinking
    if (type !== 'enabled') return json(response, { type: 'error', error: { type: 'invalid_request_error' } }, 400)
    const answer = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'a' }],
    }
    return json(response, { ...answer, stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } })
  })
  const channels = Object.entries({ 'claude-opus-5': overloaded, 'claude-sonnet-4-5': older }).map(
    ([model, { address }]) =>
      channelAt(address, {
        name: model,
        format: 'messages',
        models: { named: new Map([[model, model]]), patterns: [] },
      }),
  )
  const { models } = readConfig('models: { claude-opus-5: { fallbacks: [claude-sonnet-4-5] } }\nchannels: []', {})
  const gateway = await openGateway(channels, { config: { models } })
  const headers = { headers: { 'anthropic-version': '2023-06-01' } }
  const answer = await gateway.ask(MESSAGES_PATH, { model: 'claude-opus-5', ...message }, headers)
  expect([answer.status, answer.headers['interlingua-fallback']]).toEqual([200, 'failure'])
  expect(JSON.parse(older.seen[0]!.text)).toMatchObject({
    ...{ max_tokens: 64_000, thinking: { type: 'enabled', display: 'omitted' }, ...clearing },
  })
  expect(JSON.parse(older.seen[0]!.text)).not.toHaveProperty('output_config')
})

describe('the config of fallbacks', () => {
  test.each([
    ['models: { m: { fallbacks: [m] } }', 'models.m.fallbacks[0]: is the model itself'],
    ['models: { m: { fallbacks: [n, { model: n }] } }', 'models.m.fallbacks[1]: is listed twice'],
    ['groups: { g: { fallbacks: [{ model: n, on: [boredom] }] } }', 'groups.g.fallbacks[0].on[0]'],
  ])('%s is refused', (yaml, message) => {
    expect(() => readConfig(`${yaml}\nchannels: []`, {})).toThrow(message)
  })
})

import { afterEach, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { MODEL_FIELDS } from '../../src/formats/model-fields.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { VERSION_HEADERS } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { bracketed, CONTENT, ENDPOINTS, othersOf, planted, withPlanted } from '../builders/planted-models.ts'
import { until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { channelTo, created, ScriptedUpstream } from '../voice/upstream.ts'

/* Trap 118: a model that the key may not use, at every path of `formats/model-fields.ts`. */

const { openGateway, openUpstream } = opener()
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const MODELS = { pro: 'cheap', flash: 'flash-002', dear: 'dear' }
const ALLOWED = ['pro', 'flash']

async function open(format: string, path = '/v1') {
  const upstream = await openUpstream(response => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"usage":{}}')
  })
  const models = { named: new Map(Object.entries(MODELS)), patterns: [] }
  const testServer = await openGateway([channelAt(upstream.address, { format, models })], {
    group: { models: ALLOWED },
  })
  const asked = () => upstream.seen.filter(({ method }) => method === 'POST')
  const ask = (body: Json) => testServer.ask(path, body, VERSION_HEADERS)
  return { testServer, asked, ask }
}

/** An object in all the forms in which a body may contain it. */
const DISGUISES: readonly ((body: JsonObject) => JsonObject)[] = [
  body => ({ extra_body: body }),
  body => ({ extra_body: { extra_body: body } }),
  body => ({ extra_body: [body] }),
  body => ({ extra_body: JSON.stringify(body) }),
  body => ({ extra_body: JSON.stringify(JSON.stringify({ extra_body: body })) }),
  body => ({ extra_body: `${JSON.stringify(body).slice(0, -1)},"x":NaN}` }),
  body => ({ fallbacks: [{ model: 'flash', ...body }] }),
  body => JSON.parse(`{"__proto__":${JSON.stringify(body)}}`),
]

describe.each(ENDPOINTS)('trap 118: $path', ({ format, path, body }) => {
  test('refuses the model at every path, in every shape, before it asks an upstream', async () => {
    const { asked, ask } = await open(format, path)
    const paths = [...othersOf(format), ['extra_body', 'model'], ['extra_body', 'models', '*']]
    for (const steps of paths) {
      const plain = planted(steps, 'dear') as JsonObject
      const answer = await ask(withPlanted(body, steps, 'dear'))
      expect([answer.status, steps.join('.'), answer.text]).toEqual([403, steps.join('.'), expect.anything()])
      for (const disguise of DISGUISES) {
        const disguised = disguise(plain)
        const { status } = await ask({ ...body, ...disguised })
        expect([403, 400], JSON.stringify(disguised)).toContain(status)
      }
      for (const [index, step] of steps.entries()) {
        if (step === '*') continue
        const cased = steps.with(index, step[0]!.toUpperCase() + step.slice(1))
        const { status } = await ask(withPlanted(body, cased, 'dear'))
        expect([403, 400], cased.join('.')).toContain(status)
      }
    }
    expect(asked()).toEqual([])
  })

  test('takes every model that the key may use, under the upstream’s name', async () => {
    const { asked, ask } = await open(format, path)
    for (const steps of othersOf(format)) {
      const from = asked().length
      const { text: said } = await ask(withPlanted(body, steps, 'flash'))
      expect(asked().length, `${steps.join('.')} ${said}`).toBeGreaterThan(from)
      for (const { text } of asked().slice(from)) expect(text).not.toContain('"flash"')
    }
  })
})

const TOOL_SCHEMA = { type: 'object', properties: CONTENT, required: ['model'] }

/** Bodies in which a model's name is content. */
const INNOCENT: readonly (readonly [format: string, path: string, body: JsonObject])[] = [
  ...ENDPOINTS.map(one => [one.format, one.path, { ...one.body, metadata: CONTENT }] as const),
  [
    'chat',
    '/v1/chat/completions',
    {
      model: 'pro',
      messages: [
        { role: 'user', content: '{"model":"dear"}', name: 'model' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify(CONTENT) } }],
        },
        { role: 'tool', tool_call_id: 'c', content: JSON.stringify(CONTENT) },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: TOOL_SCHEMA } }],
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: TOOL_SCHEMA } },
    },
  ],
  [
    'messages',
    '/v1/messages',
    {
      ...{ model: 'pro', max_tokens: 9, container: 'container_1' },
      messages: [
        { role: 'user', content: 'dear' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: CONTENT }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: JSON.stringify(CONTENT) }] },
      ],
      tools: [{ name: 'f', input_schema: TOOL_SCHEMA }],
    },
  ],
  [
    'responses',
    '/v1/responses',
    {
      model: 'pro',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'model: dear' }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: JSON.stringify(CONTENT) },
        { type: 'function_call_output', call_id: 'c', output: JSON.stringify(CONTENT) },
      ],
      tools: [
        { type: 'function', name: 'f', parameters: TOOL_SCHEMA },
        { type: 'function', name: 'g', parameters: { ...CONTENT, model: { type: 'string' } } },
      ],
      text: { format: { type: 'json_schema', name: 's', schema: TOOL_SCHEMA } },
      prompt: { id: 'p', variables: { model: 'dear' } },
    },
  ],
  [
    'contents',
    '/v1beta/models/pro:generateContent',
    {
      contents: [
        { role: 'user', parts: [{ text: 'model' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: CONTENT } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: CONTENT } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: TOOL_SCHEMA }] }],
      labels: { model: 'dear' },
    },
  ],
  ['completions', '/v1/completions', { model: 'pro', prompt: '{"model":"dear"}', suffix: 'model' }],
  ['images', '/v1/images/generations', { model: 'pro', prompt: '{"model":"dear"}' }],
]

test.each(INNOCENT)('trap 118: %s %s: a model that is content is no reason to refuse', async (format, path, body) => {
  const { asked, ask } = await open(format, path)
  const answer = await ask(body)
  expect(asked(), answer.text).not.toEqual([])
  expect([400, 403]).not.toContain(answer.status)
})

const FORMS = [
  ['transcriptions', '/v1/audio/transcriptions', 'file'],
  ['images', '/v1/images/edits', 'image'],
  ['videos', '/v1/videos', 'input_reference'],
] as const

/** Returns the parts of a form on the wire. */
function formOf(file: string, parts: readonly string[]): string {
  const [type, bytes] =
    file === 'file' ? ['audio/mpeg', 'ID3 words'] : ['image/gif', 'GIF89a\u0001\u0000\u0001\u0000\u0000\u0000\u0000;']
  const own = [
    'Content-Disposition: form-data; name="model"\r\n\r\npro',
    'Content-Disposition: form-data; name="prompt"\r\n\r\nmodel: dear',
  ]
  const last = `Content-Disposition: form-data; name="${file}"; filename="a"\r\nContent-Type: ${type}\r\n\r\n${bytes}`
  return `${[...own, ...parts, last].map(part => `--b\r\n${part}\r\n`).join('')}--b--\r\n`
}

const part = (name: string, value = 'dear', more = ''): string =>
  `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`

/** Returns the parts of a form that some server takes for a model's name. */
const PARTS = (format: string): readonly string[] => [
  ...othersOf(format).flatMap(steps => [
    part(bracketed(steps)),
    part(bracketed(steps, '0')),
    part(bracketed(['extra_body', ...steps])),
    part(steps.filter(step => step !== '*').join('.')),
    part(bracketed(steps), 'dear', '; filename="x"'),
    part('extra_body', JSON.stringify(planted(steps, 'dear'))),
  ]),
  ...['model', 'Model', 'model[]', 'model[0]', 'model.name', '%6dodel', 'mode%6C', ' model', 'model\t'].map(name =>
    part(name),
  ),
  ...['extra_body', 'model', 'models', 'extra_body[model]', 'Model'].flatMap(name => [
    part(name, 'dear', '; filename="x"'),
    part(name, 'dear', '; filename=""'),
    `${part(name).replace('\r\n\r\n', '\r\nContent-Type: application/octet-stream\r\n\r\n')}`,
  ]),
  `Content-Disposition: form-data; name*=utf-8''model\r\n\r\ndear`,
  `Content-Disposition: form-data; name*=utf-8''extra_body%5Bmodel%5D\r\n\r\ndear`,
  ...['extra_body[model]', 'extra_body[extra_body][model]', 'extra_body[models][]', 'fallbacks[0][pro][]'].map(name =>
    part(name),
  ),
  part('extra_body', '{"model":"dear"}'),
  part('extra_body', '{"model":"dear","model":"flash","extra_body":{"model":"dear"}}'),
  part('extra_body', '[{"Model":"dear"}]'),
  part('__proto__[models][]'),
]

describe.each(FORMS)('trap 118: forms of %s', (format, path, file) => {
  async function openForm() {
    const { testServer, asked } = await open(format, path)
    const send = async (parts: readonly string[]) => {
      const answer = await fetch(`${testServer.server.address}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'multipart/form-data; boundary=b' },
        body: formOf(file, parts),
      })
      return { status: answer.status, text: await answer.text() }
    }
    return { send, asked }
  }

  test('name a model in no part that the key may not use', async () => {
    const { send, asked } = await openForm()
    for (const one of PARTS(format)) {
      const { status, text } = await send([one])
      expect([400, 403], `${one} ${text}`).toContain(status)
    }
    expect(asked()).toEqual([])
  })

  test('name those it may use, each as the upstream calls it', async () => {
    const { send, asked } = await openForm()
    const text = '{ "model": "flash", "x": 1 }'
    const { text: said } = await send([part('extra_body', text), part('extra_body[model]', 'flash')])
    expect(asked(), said).not.toEqual([])
    expect(asked()[0]!.text).toContain('{"model":"flash-002","x":1}')
    expect(asked()[0]!.text).not.toContain('"flash"')
  })

  test('may have any other field', async () => {
    const { send, asked } = await openForm()
    const names = ['metadata[model]', 'modelling', 'user.model', 'my_model', 'model_kind']
    // The rewritten name is the one that was checked.
    const { text: said } = await send([...names, `x"; name*=utf-8''m%6fdel; y="`].map(name => part(name)))
    expect(asked(), said).not.toEqual([])
    expect(asked()[0]!.text).toContain('name="metadata[model]"')
    expect(asked()[0]!.text).not.toContain('name*')
  })
})

test('trap 118: fields that stand twice in a body go out once', async () => {
  const { asked, ask } = await open('chat', '/v1/chat/completions')
  const twice =
    '"models":["dear"],"models":null,"extra_body":{"model":"dear"},"extra_body":"{\\"model\\":\\"dear\\",\\"model\\":null}"'
  await ask(`{"model":"dear","model":"pro",${twice},"messages":[{"role":"user","content":"Hi."}]}`)
  expect(asked()).toHaveLength(1)
  expect(asked()[0]!.text).not.toContain('dear')
})

test.each([
  'Content-Disposition: form-data; name="extra_body[model]"\r\n\r\ndear',
  'Content-Disposition: form-data; name="model"; filename="x"\r\n\r\ndear',
  'Content-Disposition: form-data; name="model"\r\n\r\ndear',
])('trap 118: no model follows behind a file that flows through: %j', async late => {
  const { testServer, asked } = await open('transcriptions', '/v1/audio/transcriptions')
  const form = formOf('file', []).replace('ID3 words', `ID3${'x'.repeat(5 * 2 ** 20)}`)
  const answer = await fetch(`${testServer.server.address}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'multipart/form-data; boundary=b' },
    body: form.replace(/--b--\r\n$/, () => `--b\r\n${late}\r\n--b--\r\n`),
  })
  expect([400, 403]).toContain(answer.status)
  await answer.text()
  expect(asked().every(({ text }) => !/\r\n\r\ndear/.test(text))).toBe(true)
})

test('trap 118: frames of a socket of responses are held to the same list', async () => {
  const { testServer, asked } = await open('responses')
  const client = await Client.open(testServer.server.address)
  for (const steps of [...othersOf('responses'), ['extra_body', 'model']]) {
    const events = await client.turn({ model: 'pro', input: 'Hi.', ...(planted(steps, 'dear') as JsonObject) })
    expect(events.at(-1), steps.join('.')).toMatchObject({ type: 'error', status: 403 })
  }
  await client.close()
  expect(asked()).toEqual([])
})

const SESSIONS = [
  ['relayed', {}, {}],
  ['relayed in the beta', { naming: 'beta' }, { 'openai-beta': 'realtime=v1' }],
  ['translated', { layout: 'mixed' }, {}],
] as const

describe.each(SESSIONS)('trap 118: events of a session that is %s', (_, dialect, headers) => {
  async function openSession() {
    const upstream = await ScriptedUpstream.open(async connection => {
      connection.send(created())
      connection.socket.on('message', data => {
        const event = JSON.parse(String(data))
        if (event.type === 'session.update') connection.send({ ...created(), type: 'session.updated' })
      })
    })
    const models = { voice: 'upstream-voice', flash: 'flash-002', dear: 'dear' }
    const group = { models: ['voice', 'flash'] }
    const testServer = await TestServer.open([channelTo(upstream, { dialect, models })], { group })
    closing.push(
      () => upstream.close(),
      () => testServer.server.close(0),
    )
    const client = await Client.open(testServer.server.address, headers, '/v1/realtime?model=voice')
    closing.push(() => client.close())
    const connection = upstream.connections[0]!
    return { testServer, client, connection, before: connection.received.length }
  }

  const { others, helpers, requested } = MODEL_FIELDS.get('realtime')!
  const paths = [...othersOf('realtime')]
  const typeOf = ([root]: readonly string[]): string => (root === 'session' ? 'session.update' : 'response.create')

  test('names no model that the key may not use', async () => {
    expect(others.length * helpers.length * requested.length).toBeGreaterThan(0)
    const { client, connection, before } = await openSession()
    const errors = () => client.events.filter(({ type }) => type === 'error')
    const frames = paths.flatMap(steps => [
      { type: typeOf(steps), ...(planted(steps, 'dear') as JsonObject) },
      { type: typeOf(steps), ...(planted(steps.with(-1, 'Model'), 'dear') as JsonObject) },
      { type: typeOf(steps), ...(planted(steps.with(0, `${steps[0]}s`.replace(/s$/, '')), ['dear']) as JsonObject) },
      { type: typeOf(steps), ...(planted(steps.with(0, steps[0]!.toUpperCase()), 'dear') as JsonObject) },
      { type: 'transcription_session.update', ...(planted(steps, 'dear') as JsonObject) },
      { type: 'input_audio_buffer.commit', ...(planted(steps, 'dear') as JsonObject) },
    ])
    for (const frame of frames) client.send(frame)
    await until(() => errors().length === frames.length)
    expect(errors()[0].error).toMatchObject({ code: 'model_not_allowed', type: 'permission_error' })
    expect(connection.received.slice(before)).toEqual([])
  })

  test('has others under the upstream’s names, and content as it is', async () => {
    const { client, connection, before } = await openSession()
    client.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        audio: { input: { transcription: { model: 'flash' } } },
        tools: [{ type: 'function', name: 'f', parameters: TOOL_SCHEMA }],
      },
    })
    client.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: '{"model":"dear"}' }] },
    })
    await until(() => connection.received.length === before + 2)
    const written = JSON.stringify(connection.received.slice(before))
    expect(written).toContain('"model":"flash-002"')
    expect(written).toContain(JSON.stringify(TOOL_SCHEMA))
    expect(client.events.filter(({ type }) => type === 'error')).toEqual([])
  })

  test('begins with no such model by a client secret either', async () => {
    const { testServer } = await openSession()
    for (const steps of paths.filter(([root]) => root === 'session')) {
      const { session } = planted(steps, 'dear') as { session: JsonObject }
      const body = { session: { type: 'realtime', model: 'voice', ...session } }
      expect((await testServer.ask('/v1/realtime/client_secrets', body)).status, steps.join('.')).toBe(403)
    }
  })
})

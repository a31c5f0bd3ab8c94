import { describe, expect, it } from 'vitest'
import type { Format, JsonObject } from '../../../src/canonical/node.ts'
import type { ChannelFormat } from '../../../src/config/index.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { familyDialect, formatFor } from '../../../src/formats/index.ts'
import { deepseek } from '../../../src/formats/vendors/compatible.ts'
import { READERS } from '../../../src/ingress/index.ts'

/*
 * Models of DeepSeek that take text only refuse every request with an image ("unknown variant `image_url`, expected
 * `text`", rikkahub#1433), and with it each later request of the session, whose history has the image.
 */

const WORDS = '[The image is left out: this model takes no images.]'
const PRO = 'deepseek-v4-pro'
const DATA = 'aW1hZ2U='
const URL = `data:image/png;base64,${DATA}`
const FORMATS = ['chat', 'messages', 'responses'] as const

/** A session of an agent in each format: the user shows an image, and a tool reads another. */
const BODIES: { readonly [F in (typeof FORMATS)[number]]: JsonObject } = {
  messages: {
    max_tokens: 100,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, messagesImage()] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'A picture.', signature: 'a' },
          { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [messagesImage()] },
          { type: 'text', text: 'And?', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
  },
  chat: {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, chatImage()] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'Read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: [chatImage()] },
      { role: 'user', content: 'And?' },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Look.' }, responsesImage()] },
      { type: 'function_call', call_id: 'toolu_1', name: 'Read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: [responsesImage()] },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ],
  },
}

function messagesImage(): JsonObject {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } }
}

function chatImage(): JsonObject {
  return { type: 'image_url', image_url: { url: URL } }
}

function responsesImage(): JsonObject {
  return { type: 'input_image', image_url: URL }
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const

const channelFormat = (format: Format, dialect: JsonObject = {}): ChannelFormat => ({
  ...{ format, baseUrl: 'http://127.0.0.1', auth: 'none', headers: {}, query: {} },
  dialect: { ...deepseek.formats.find(one => one.format === format)!.dialect, ...dialect },
})

/** Returns what DeepSeek gets of a session that a caller has with a model that an alias sends to `model`. */
function sent(from: (typeof FORMATS)[number], to: Format, model = PRO, callerModel = 'claude-sonnet-5', more = {}) {
  const wire = { path: PATHS[from], query: {}, headers: {}, body: { model: callerModel, ...BODIES[from] } }
  const request = READERS[from]!.request!(wire)
  const native = from === to
  const { dialect, otherModel } = formatFor(channelFormat(to, more), { model, native, callerModel })
  const written = WRITERS[to]!.request!({ ...request, model }, { dialect, native, otherModel })
  return { ...written, text: JSON.stringify(written.wire.body) }
}

const pairs = FORMATS.flatMap(from => FORMATS.map(to => [from, to] as const))

describe('a model of DeepSeek that takes text only', () => {
  it.each(pairs)('gets words in the place of images, from %s to %s', (from, to) => {
    const { text, losses } = sent(from, to)
    expect(text).not.toContain(DATA)
    expect(text.split(WORDS)).toHaveLength(3)
    const lost = losses.filter(({ reason }) => reason === 'no-images')
    expect(lost.map(({ path }) => path.join('/'))).toEqual(['messages/0/content/1', 'messages/2/content/0/content/0'])
  })

  it('gets the words in the result of the tool', () => {
    const { wire } = sent('messages', 'chat')
    expect(wire.body['messages']).toEqual([
      { role: 'user', content: `Look.\n\n${WORDS}` },
      expect.objectContaining({ role: 'assistant' }),
      { role: 'tool', tool_call_id: 'toolu_1', content: WORDS },
      { role: 'user', content: 'And?' },
    ])
  })

  it('gets all else of a native caller of messages as it came', () => {
    const { wire } = sent('messages', 'messages')
    const words = { type: 'text', text: WORDS }
    const [first, second, third] = BODIES.messages['messages'] as readonly JsonObject[]
    expect(wire.body).toEqual({
      ...BODIES.messages,
      model: PRO,
      messages: [
        { role: 'user', content: [(first!['content'] as JsonObject[])[0], words] },
        second,
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: expect.anything() },
            (third!['content'] as JsonObject[])[1],
          ],
        },
      ],
    })
  })

  it('gets no images of Claude Code either if it names the model', () => {
    expect(sent('messages', 'messages', PRO, PRO).text).not.toContain(DATA)
  })

  it.each(['chat', 'responses'] as const)('gets the request of a caller of %s that names it as it came', format => {
    expect(sent(format, format, PRO, PRO).wire.body).toMatchObject(BODIES[format])
  })

  it.each(pairs)('gets images if the operator says so, from %s to %s', (from, to) => {
    expect(sent(from, to, PRO, 'claude-sonnet-5', { images: true }).text).toContain(DATA)
  })
})

it.each(pairs)('a model of DeepSeek that sees gets images, from %s to %s', (from, to) => {
  for (const model of ['deepseek-flash', 'deepseek-v4-flash']) expect(sent(from, to, model).text).toContain(DATA)
})

it.each(pairs)('a model gets no images if the operator says so, from %s to %s', (from, to) => {
  expect(sent(from, to, 'm', 'm', { images: false }).text).not.toContain(DATA)
})

it('models that take text only are told by their names', () => {
  const isTextOnly = (model: string) => familyDialect('chat', model)?.['images'] === false
  for (const model of [
    ...[PRO, 'deepseek/deepseek-v4-pro-0813', 'deepseek-ai/DeepSeek-V3.2', 'deepseek-chat-v3-0324', 'deepseek-v3p1'],
    ...['us.deepseek.r1-v1:0', 'deepseek-r1-distill-llama-70b', 'deepseek-coder-v2', 'openai/gpt-oss-120b'],
  ])
    expect(isTextOnly(model), model).toBe(true)
  for (const model of [
    ...['deepseek-flash', 'deepseek-v4-flash', 'deepseek-v4-flash-vision-exp', 'deepseek-v4.1-flash', 'deepseek-vl2'],
    ...['deepseek-ocr', 'deepseek-v4.1-pro', 'gpt-5', 'kimi-k3', 'glm-5.3'],
  ])
    expect(isTextOnly(model), model).toBe(false)
})

const PDF = {
  model: 'claude-sonnet-5',
  max_tokens: 100,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' } },
        { type: 'document', title: 'a.txt', source: { type: 'text', media_type: 'text/plain', data: 'Rain.' } },
      ],
    },
  ],
}

it.each(['chat', 'responses'] as const)('DeepSeek gets words in the place of files that it refuses, in %s', to => {
  const request = READERS['messages']!.request!({ path: PATHS.messages, query: {}, headers: {}, body: PDF })
  const { dialect } = formatFor(channelFormat(to), { model: 'deepseek-flash', native: false })
  const { wire, losses } = WRITERS[to]!.request!(request, { dialect, native: false })
  const body = JSON.stringify(wire.body)
  expect(body).not.toContain('cGRm')
  expect(body).toContain('[The file is left out: this model takes no files.]')
  expect(body).toContain('a.txt\\n\\nRain.')
  expect(losses.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['no-files', 'said-in-words']))
})

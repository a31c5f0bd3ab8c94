import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'
import type { Loose } from './scene.ts'

/* Both formats with such fields report the properties of a generated image and its prompt. */

const DATA = Buffer.from('GIF89a and more').toString('base64')
const LOOKS = { size: '1536x1024', quality: 'high', background: 'opaque' }
const MADE = { ...LOOKS, output_format: 'gif', revised_prompt: 'a small boat at sea' }
const SETTINGS = { ...LOOKS, output_format: 'webp', output_compression: 80, moderation: 'low' }

const { open: openBefore } = opener()

async function open(format: string, { whole, events = [] }: { whole: JsonObject; events?: readonly JsonObject[] }) {
  const script: Script = (response, { text }) => {
    if (!text.includes('"stream":true'))
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(events.map(one => `event: ${one['type']}\ndata: ${JSON.stringify(one)}\n\n`).join(''))
  }
  const { testServer, upstream } = await openBefore(script, {}, { format })
  return { testServer, asked: (): Loose => JSON.parse(upstream.seen[0]!.text) }
}

const eventsIn = (text: string): Loose[] =>
  text
    .split('\n')
    .filter(line => line.startsWith('data: {'))
    .map(line => JSON.parse(line.slice('data: '.length)))

const CALL = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: DATA, ...MADE }
const USAGE = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
const RESPONSE = { id: 'resp_1', object: 'response', status: 'completed', created_at: 7, output: [CALL], usage: USAGE }
const RESPONSES = {
  whole: RESPONSE,
  events: [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'image_generation_call', id: 'ig_1', status: 'in_progress', result: null, size: 'auto' },
    },
    {
      type: 'response.image_generation_call.partial_image',
      ...{ output_index: 0, item_id: 'ig_1', partial_image_index: 0, partial_image_b64: DATA, output_format: 'gif' },
      ...LOOKS,
    },
    { type: 'response.output_item.done', output_index: 0, item: CALL },
    { type: 'response.completed', response: RESPONSE },
  ],
}

describe('images before responses', () => {
  test('the tool has the settings, and the picture tells its looks', async () => {
    const { testServer, asked } = await open('responses', RESPONSES)
    const { json, headers } = await testServer.ask('/v1/images/generations', {
      model: 'm',
      prompt: 'a boat',
      ...SETTINGS,
    })
    expect(asked().tools).toEqual([{ type: 'image_generation', ...SETTINGS }])
    const { revised_prompt, ...looks } = MADE
    expect(json).toMatchObject({ ...looks, data: [{ b64_json: DATA, revised_prompt }], usage: USAGE })
    expect(headers['interlingua-loss']).toBeUndefined()
  })

  test.each([false, true])('the tokens of the tool that drew count as well, streamed: %s', async stream => {
    const image_gen = {
      input_tokens: 9,
      output_tokens: 100,
      total_tokens: 109,
      input_tokens_details: { image_tokens: 2 },
    }
    const answered = { ...RESPONSE, tool_usage: { image_gen } }
    const events = RESPONSES.events.with(-1, { type: 'response.completed', response: answered })
    const { testServer } = await open('responses', { whole: answered, events })
    const { text, json } = await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'a boat', stream })
    const { usage } = stream ? eventsIn(text).at(-1) : json
    expect(usage).toMatchObject({ input_tokens: 12, output_tokens: 104, total_tokens: 116 })
  })

  test('streamed', async () => {
    const { testServer } = await open('responses', RESPONSES)
    const body = { model: 'm', prompt: 'a boat', stream: true, partial_images: 1 }
    const [preview, completed, ...more] = eventsIn((await testServer.ask('/v1/images/generations', body)).text)
    const { revised_prompt, ...looks } = MADE
    const picture = { b64_json: DATA, ...looks, created_at: 7 }
    expect(preview).toEqual({ type: 'image_generation.partial_image', partial_image_index: 0, ...picture })
    expect(completed).toMatchObject({ type: 'image_generation.completed', ...picture, revised_prompt, usage: USAGE })
    expect(more).toEqual([])
  })
})

test('a drawing that came to nothing is told as no picture', async () => {
  const failed = { ...CALL, status: 'failed', result: null }
  const events = RESPONSES.events.map(event => ({
    ...event,
    ...('item' in event && event.item === CALL ? { item: failed } : {}),
    ...(event.type === 'response.completed' ? { response: { ...RESPONSE, output: [failed] } } : {}),
  }))
  const { testServer } = await open('responses', { whole: {}, events })
  const { text } = await testServer.ask('/v1/images/generations', { model: 'm', prompt: 'a boat', stream: true })
  expect(eventsIn(text).map(({ type }) => type)).toEqual(['image_generation.partial_image', 'error'])
})

const { revised_prompt, output_format } = MADE
const IMAGES = {
  whole: { created: 7, data: [{ b64_json: DATA, revised_prompt }], output_format, ...LOOKS, usage: USAGE },
  events: [
    { type: 'image_generation.partial_image', b64_json: DATA, partial_image_index: 0, output_format, ...LOOKS },
    { type: 'image_generation.completed', b64_json: DATA, ...MADE, created_at: 7, usage: USAGE },
  ],
}

describe('responses before images', () => {
  const body = {
    model: 'm',
    input: 'a boat',
    tools: [{ type: 'image_generation', ...SETTINGS }],
    tool_choice: { type: 'image_generation' },
    store: false,
  }

  test('the request has the tool’s settings, and the item tells the looks', async () => {
    const { testServer, asked } = await open('images', IMAGES)
    const { json, headers } = await testServer.ask('/v1/responses', body)
    expect(asked()).toEqual({ model: 'm', prompt: 'a boat', ...SETTINGS })
    expect(json.output).toMatchObject([{ type: 'image_generation_call', result: DATA, ...MADE }])
    expect(json.usage).toMatchObject(USAGE)
    expect(headers['interlingua-loss']).toBeUndefined()
  })

  test('streamed', async () => {
    const { testServer } = await open('images', IMAGES)
    const events = eventsIn((await testServer.ask('/v1/responses', { ...body, stream: true })).text)
    const of = (type: string) => events.filter(event => event.type === type)
    expect(of('response.image_generation_call.partial_image')).toMatchObject([{ partial_image_b64: DATA, ...LOOKS }])
    expect(of('response.output_item.done')).toMatchObject([{ item: { result: DATA, ...MADE } }])
    expect(of('response.completed')[0].response).toMatchObject({ output: [{ result: DATA, ...MADE }], usage: USAGE })
  })
})

test('what several pictures of a stream cost is told of each, and together', async () => {
  const one = { type: 'image_generation.completed', b64_json: DATA, output_format: 'gif', usage: USAGE }
  const details = { input_tokens_details: { text_tokens: 1, image_tokens: 2 } }
  const events = [one, { ...one, usage: { ...USAGE, ...details } }]
  const { testServer } = await open('images', { whole: {}, events })
  const body = { model: 'm', prompt: 'a boat', n: 2 }
  const streamed = eventsIn((await testServer.ask('/v1/images/generations', { ...body, stream: true })).text)
  expect(streamed.map(({ usage }) => usage)).toEqual(events.map(({ usage }) => usage))
  expect(testServer.lines.at(-1)!.fields).toMatchObject({ input_tokens: 6, output_tokens: 8 })
})

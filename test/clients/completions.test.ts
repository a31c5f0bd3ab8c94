import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseObject } from '../../src/canonical/node.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { USAGE } from './scene.ts'
import { FORMATS, Stage } from './stage.ts'

const PROMPT = 'Once upon a time'
const STORY = 'there was a gateway — “wörld” 🌍.'

const clientOf = (address: string, headers: { readonly [name: string]: string } = {}): OpenAI =>
  new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0, defaultHeaders: headers })

/** Returns the text of every choice, the last finish reason, and the last usage of a stream. */
async function gathered(stream: AsyncIterable<OpenAI.Completion>) {
  const texts: string[] = []
  const finishes: string[] = []
  let usage: OpenAI.Completion['usage'] | null
  for await (const piece of stream) {
    expect(piece).toMatchObject({ object: 'text_completion', model: 'm' })
    for (const { index, text, finish_reason } of piece.choices) {
      texts[index] = (texts[index] ?? '') + text
      if (finish_reason !== null) finishes[index] = finish_reason
    }
    usage = piece.usage
  }
  return { texts, finishes, usage }
}

describe.each(FORMATS)('openai completions before an upstream of %s', format => {
  let stage: Stage
  let client: OpenAI
  beforeAll(async () => {
    stage = await Stage.open(format)
    client = clientOf(stage.address.address)
  })
  afterAll(() => stage.close())

  test('whole: the prompt is a question, its answer the text', async () => {
    stage.plays({ text: STORY })
    const { data, response } = await client.completions.create({ model: 'm', prompt: PROMPT }).withResponse()
    expect(data).toMatchObject({
      object: 'text_completion',
      model: 'm',
      choices: [{ index: 0, text: STORY, finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output },
    })
    expect(stage.heard().turns).toEqual([{ role: 'user', text: PROMPT }])
    expect(response.headers.get('interlingua-loss')).toContain('prompt asked-as-a-question')
  })

  test('an empty prompt, as of an empty file, is not a request without turns', async () => {
    stage.plays({ text: STORY })
    const { choices } = await client.completions.create({ model: 'm', prompt: '' })
    expect(choices[0]!.text).toBe(STORY)
    expect(stage.heard().turns).toHaveLength(1)
  })

  test('no limit of sixteen tokens that nobody asked for', async () => {
    stage.plays({ text: STORY })
    await client.completions.create({ model: 'm', prompt: PROMPT })
    expect(stage.heard().limit).not.toBe(16)
  })

  test('streamed', async () => {
    stage.plays({ text: STORY })
    const stream_options = { include_usage: true }
    const stream = await client.completions.create({ model: 'm', prompt: PROMPT, stream: true, stream_options })
    const got = await gathered(stream)
    expect(got).toMatchObject({ texts: [STORY], finishes: ['stop'] })
    // Chat upstreams report usage if it is requested, which their channel declares.
    if (format !== 'chat') expect(got.usage).toMatchObject({ prompt_tokens: USAGE.input })
  })

  test.each([false, true])('echo: the prompt stands before its answer (streamed: %s)', async stream => {
    stage.plays({ text: STORY })
    const body = { model: 'm', prompt: PROMPT, echo: true }
    if (stream) {
      const got = await gathered(await client.completions.create({ ...body, stream: true }))
      expect(got.texts).toEqual([PROMPT + STORY])
    } else expect((await client.completions.create(body)).choices[0]!.text).toBe(PROMPT + STORY)
  })

  test('thoughts are no text', async () => {
    stage.plays({ thought: 'Hm.', text: STORY })
    expect((await client.completions.create({ model: 'm', prompt: PROMPT })).choices[0]!.text).toBe(STORY)
  })

  test('a suffix is a loss that is told, and refused where losses are', async () => {
    stage.plays({ text: STORY })
    const body = { model: 'm', prompt: PROMPT, suffix: 'The end.' }
    const { response } = await client.completions.create(body).withResponse()
    expect(response.headers.get('interlingua-loss')).toContain('suffix no-suffix')
    const strict = clientOf(stage.address.address, { 'interlingua-on-loss': 'refuse' })
    await expect(strict.completions.create(body)).rejects.toMatchObject({ status: 422 })
  })

  test.each([false, true])('several prompts are asked one by one, never as one (streamed: %s)', async stream => {
    stage.plays({ text: 'one' }, { text: 'two' }, { text: 'three' })
    const body = { model: 'm', prompt: ['a', 'b', 'c'], echo: true }
    const usage = { prompt_tokens: 3 * USAGE.input, completion_tokens: 3 * USAGE.output }
    if (stream) {
      const options = { stream: true, stream_options: { include_usage: true } } as const
      const got = await gathered(await client.completions.create({ ...body, ...options }))
      expect(got).toMatchObject({ texts: ['aone', 'btwo', 'cthree'], finishes: ['stop', 'stop', 'stop'], usage })
    } else {
      const { choices, ...head } = await client.completions.create(body)
      expect(choices.map(({ index, text }) => [index, text])).toEqual([
        [0, 'aone'],
        [1, 'btwo'],
        [2, 'cthree'],
      ])
      expect(head).toMatchObject({ usage })
    }
    expect(stage.seen.length).toBe(3)
    for (const [index, text] of ['a', 'b', 'c'].entries())
      expect(stage.heard(index).turns).toEqual([{ role: 'user', text }])
  })

  test.each([false, true])(
    'each prompt has its choices, also of an upstream that gives one (streamed: %s)',
    async stream => {
      stage.plays({ text: '1' }, { text: '2' }, { text: '3' }, { text: '4' })
      const body = { model: 'm', prompt: ['a', 'b'], n: 2, echo: true }
      const texts = stream
        ? (await gathered(await client.completions.create({ ...body, stream: true }))).texts
        : (await client.completions.create(body)).choices.map(({ text }) => text)
      expect(texts).toEqual(['a1', 'a2', 'b3', 'b4'])
    },
  )

  test.each([[[9906, 11]], [[[9906], [11, 856]]]])('tokens only another model reads are refused: %j', async prompt => {
    stage.plays()
    const asked = client.completions.create({ model: 'm', prompt: prompt as number[] })
    await expect(asked).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError)
    expect(stage.seen.length).toBe(0)
  })

  test.each([0, 5])(
    'the scores of an echoed prompt, which evaluation harnesses sum, are refused (%d)',
    async logprobs => {
      stage.plays({ text: STORY })
      const body = { model: 'm', prompt: PROMPT, max_tokens: 1, echo: true, logprobs }
      await expect(client.completions.create(body)).rejects.toMatchObject({ status: 422 })
      expect(stage.seen.length).toBe(0)
    },
  )

  test('more prompts than anybody means to send are refused', async () => {
    stage.plays()
    const asked = client.completions.create({ model: 'm', prompt: Array.from({ length: 129 }, () => 'a') })
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'prompt' })
    expect(stage.seen.length).toBe(0)
  })
})

describe('openai completions before an upstream of completions', () => {
  const answer = (text: string, finish_reason: string | null) => ({
    ...{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', system_fingerprint: 'fp_1' },
    choices: [{ index: 0, text, logprobs: null, finish_reason }],
  })
  const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 }
  let upstream: FakeUpstream
  let testServer: TestServer
  beforeAll(async () => {
    upstream = await FakeUpstream.open((response, { text }) => {
      if (parseObject(text)?.['stream'] !== true)
        return response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...answer(STORY, 'length'), usage }))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pieces = [
        answer(STORY.slice(0, 9), null),
        answer(STORY.slice(9), 'length'),
        { ...answer('', null), choices: [], usage },
      ]
      for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\n\n`)
      return response.end('data: [DONE]\n\n')
    })
    testServer = await TestServer.open([channelAt(upstream.address, { format: 'completions' })])
  })
  afterAll(async () => {
    await testServer.server.close(0)
    await upstream.close()
  })

  test.each([PROMPT, ['a', 'b'], [9906, 11], [[1], [2, 3]]])('whole, as it was asked: %j', async prompt => {
    const body = {
      model: 'm',
      prompt,
      suffix: '.',
      echo: true,
      n: 2,
      best_of: 3,
      logprobs: 2,
      logit_bias: { 50256: -1 },
    }
    const { data, response } = await clientOf(testServer.server.address).completions.create(body).withResponse()
    expect(data).toMatchObject({ ...answer(STORY, 'length'), usage })
    expect(response.headers.get('interlingua-loss')).toBeNull()
    const seen = upstream.seen.at(-1)!
    expect(seen.url).toBe('/v1/completions')
    expect(JSON.parse(seen.text)).toEqual(body)
  })

  test('streamed, usage only where it was asked for', async () => {
    const client = clientOf(testServer.server.address)
    const body = { model: 'm', prompt: PROMPT, stream: true } as const
    const silent = await gathered(await client.completions.create(body))
    expect(silent).toMatchObject({ texts: [STORY], finishes: ['length'] })
    expect(silent.usage).toBeUndefined()
    const told = await gathered(await client.completions.create({ ...body, stream_options: { include_usage: true } }))
    expect(told).toMatchObject({ texts: [STORY], usage })
  })
})

describe('openai completions before a vendor that has them for few of its models', () => {
  const chat = { choices: [{ index: 0, message: { role: 'assistant', content: STORY }, finish_reason: 'stop' }] }
  const none = {
    error: { message: 'This is a chat model.', type: 'invalid_request_error', param: 'model', code: null },
  }
  const channelOf = (address: string) => {
    const channel = channelAt(address, { format: 'completions' })
    return { ...channel, formats: [...channel.formats, { ...channel.formats[0]!, format: 'chat' }] }
  }

  test('a model without is asked in a conversation, and is so at once from then on', async () => {
    const upstream = await FakeUpstream.open((response, { url }) => {
      const [status, body] = url === '/v1/completions' ? [404, none] : [200, chat]
      return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const testServer = await TestServer.open([channelOf(upstream.address)])
    const client = clientOf(testServer.server.address)
    for (let round = 0; round < 2; round++)
      expect((await client.completions.create({ model: 'm', prompt: PROMPT })).choices[0]!.text).toBe(STORY)
    expect(upstream.seen.map(({ url }) => url)).toEqual([
      '/v1/completions',
      '/v1/chat/completions',
      '/v1/chat/completions',
    ])
    await testServer.server.close(0)
    await upstream.close()
  })

  test('what only its completions could be told is refused in their own words', async () => {
    const upstream = await FakeUpstream.open(response =>
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(none)),
    )
    const testServer = await TestServer.open([channelOf(upstream.address)])
    const asked = clientOf(testServer.server.address).completions.create({ model: 'm', prompt: [1, 2] })
    await expect(asked).rejects.toMatchObject({ status: 404, message: expect.stringContaining('chat model') })
    expect(upstream.seen.length).toBe(1)
    await testServer.server.close(0)
    await upstream.close()
  })

  test('a long refusal is looked through once for what it lacks', async () => {
    const message = 'not a '.repeat(60_000)
    const upstream = await FakeUpstream.open(response =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message, type: 'invalid_request_error' } })),
    )
    const testServer = await TestServer.open([channelOf(upstream.address)])
    const began = performance.now()
    const asked = clientOf(testServer.server.address).completions.create({ model: 'm', prompt: PROMPT })
    await expect(asked).rejects.toMatchObject({ status: 400 })
    expect(performance.now() - began).toBeLessThan(1500)
    await testServer.server.close(0)
    await upstream.close()
  })
})

describe('several prompts before a server that takes one text, as Ollama and Together do', () => {
  const choice = (text: string) => ({ index: 0, text, finish_reason: 'stop', logprobs: null })

  test('are one request each, whole and streamed', async () => {
    const upstream = await FakeUpstream.open((response, { text }) => {
      const { prompt } = JSON.parse(text)
      const isText = typeof prompt === 'string'
      const body = isText ? { object: 'text_completion', model: 'm', choices: [choice(`${prompt}!`)] } : { error: {} }
      return response.writeHead(isText ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    const testServer = await TestServer.open([
      channelAt(upstream.address, { format: 'completions', dialect: { prompts: 'one' } }),
    ])
    const client = clientOf(testServer.server.address)
    const asked = { model: 'm', prompt: ['a', 'b', 'c'] }
    const { choices } = await client.completions.create(asked)
    expect(choices.map(({ index, text }) => [index, text])).toEqual([
      [0, 'a!'],
      [1, 'b!'],
      [2, 'c!'],
    ])
    const { texts } = await gathered(await client.completions.create({ ...asked, stream: true }))
    expect(texts).toEqual(['a!', 'b!', 'c!'])
    expect(upstream.seen.map(({ text }) => JSON.parse(text).prompt)).toEqual([...asked.prompt, ...asked.prompt])
    await testServer.server.close(0)
    await upstream.close()
  })
})

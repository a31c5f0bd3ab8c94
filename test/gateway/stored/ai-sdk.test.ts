import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from 'ai'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY } from '../../builders/config.ts'
import type { Loose } from '../../clients/scene.ts'
import { FORMATS } from '../../clients/stage.ts'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => {
  expect(testServer.faults).toEqual([])
  await testServer.close()
})

const tools = {
  get_weather: tool({
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: async ({ city }) => ({ city, sky: 'rain' }),
  }),
}

type Ask = (options: Loose) => Promise<{ text: string; messages: ModelMessage[] }>
const WAYS: readonly { way: string; ask: Ask }[] = [
  {
    way: 'generateText',
    ask: async options => {
      const { text, responseMessages } = await generateText(options)
      return { text, messages: responseMessages }
    },
  },
  {
    way: 'streamText',
    ask: async options => {
      const stream = streamText(options)
      await stream.consumeStream()
      return { text: await stream.text, messages: await stream.responseMessages }
    },
  },
]

/** The SDK stores by default and refers to stored items with `item_reference` instead of repeating them. */
describe.each(FORMATS)('AI SDK before an upstream of %s', format => {
  test.each(WAYS)('two turns with tools: $way', async ({ ask }) => {
    const speaker = await Speaker.open(format)
    testServer = await StoringGateway.open([speaker])
    const model = createOpenAI({ baseURL: `${testServer.testServer.server.address}/v1`, apiKey: KEY })('m')
    const base = { model, tools, stopWhen: isStepCount(3), maxRetries: 0 }
    speaker.scenes = [
      { thought: 'I must look.', calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Bern' } }] },
      { text: 'Rain.' },
      { text: 'Bye.' },
    ]
    const hello: ModelMessage = { role: 'user', content: 'Weather?' }
    const first = await ask({ ...base, messages: [hello] })
    expect(first.text).toBe('Rain.')
    const second = await ask({ ...base, messages: [hello, ...first.messages, { role: 'user', content: 'Thanks.' }] })
    expect(second.text).toBe('Bye.')
    if (format === 'responses') {
      expect(speaker.bodies.at(-1).input.some((item: Loose) => item.type === 'item_reference')).toBe(true)
      return
    }
    expect(speaker.heard().turns).toMatchObject([
      { role: 'user', text: 'Weather?' },
      { role: 'assistant', calls: [{ name: 'get_weather', arguments: { city: 'Bern' } }] },
      { results: [{ output: { city: 'Bern', sky: 'rain' } }] },
      { role: 'assistant', text: 'Rain.' },
      { role: 'user', text: 'Thanks.' },
    ])
  })
})

import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FORMAT_FACTS as FACTS } from '../../src/formats/index.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { FORMATS } from './stage.ts'

const COUNT = 4711
const TEXT = 'How many tokens is this?'

/** The token counting methods of the real clients. */
const COUNTERS: readonly { readonly name: string; count(address: string): Promise<number | undefined> }[] = [
  {
    name: 'anthropic messages.countTokens',
    count: async address => {
      const client = new Anthropic({ baseURL: address, apiKey: KEY, maxRetries: 0 })
      const counted = await client.messages.countTokens({
        model: 'm',
        system: 'Be brief.',
        messages: [{ role: 'user', content: TEXT }],
        tools: [{ name: 'f', description: 'A tool.', input_schema: { type: 'object' } }],
      })
      return counted.input_tokens
    },
  },
  {
    name: 'Open WebUI, which sends no version,',
    count: async address => {
      const answer = await fetch(`${address}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: TEXT }] }),
      })
      return ((await answer.json()) as { input_tokens?: number }).input_tokens
    },
  },
  {
    name: 'google models.countTokens',
    count: async address => {
      const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: address } })
      return (await client.models.countTokens({ model: 'm', contents: TEXT })).totalTokens
    },
  },
  {
    name: 'openai responses.inputTokens.count',
    count: async address => {
      const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: KEY, maxRetries: 0 })
      const counted = await client.responses.inputTokens.count({
        model: 'm',
        instructions: 'Be brief.',
        input: TEXT,
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
      })
      expect(counted.object).toBe('response.input_tokens')
      return counted.input_tokens
    },
  },
]

/** Path of token counting in each format, and the upstream's answer. */
const CALLS: { readonly [format: string]: { readonly path: string; readonly answer: object } } = {
  messages: { path: '/v1/messages/count_tokens', answer: { input_tokens: COUNT } },
  responses: {
    path: '/v1/responses/input_tokens',
    answer: { object: 'response.input_tokens', input_tokens: COUNT },
  },
  contents: { path: '/v1beta/models/m:countTokens', answer: { totalTokens: COUNT } },
  converse: { path: '/model/m/count-tokens', answer: { inputTokens: COUNT } },
}

describe.each(COUNTERS)('$name', ({ count }) => {
  describe.each(FORMATS)('before an upstream of %s', format => {
    let upstream: FakeUpstream
    let testServer: TestServer
    beforeAll(async () => {
      upstream = await FakeUpstream.open((response, { url }) => {
        const call = CALLS[format]
        if (call?.path !== url) return response.writeHead(500).end()
        return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(call.answer))
      })
      const channel = channelAt(upstream.address, { format })
      const baseUrl = FACTS.get(format)!.versioned === 'path' ? upstream.address : `${upstream.address}/v1`
      testServer = await TestServer.open([{ ...channel, formats: [{ ...channel.formats[0]!, baseUrl }] }])
    })
    afterAll(async () => {
      await testServer.server.close(0)
      await upstream.close()
    })

    test('counts', async () => {
      const counted = await count(testServer.server.address)
      if (CALLS[format] !== undefined) {
        expect(counted).toBe(COUNT)
        expect(upstream.seen.map(({ url }) => url)).toEqual([CALLS[format].path])
        expect(upstream.seen[0]!.text).toContain(TEXT)
        expect(upstream.seen[0]!.text).not.toContain('max_tokens')
      } else {
        expect(counted).toBeGreaterThan(8)
        expect(counted).toBeLessThan(500)
        expect(upstream.seen).toEqual([])
      }
    })
  })
})

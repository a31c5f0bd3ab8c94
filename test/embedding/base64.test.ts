import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { PRESETS } from '../../src/formats/presets.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* OpenRouter answers requests for base64 without vectors if the model does not know it (plastic-labs/honcho#932). */

const VECTOR = [0.25, -1.5]

test.each([undefined, 'float', 'base64'] as const)(
  'OpenRouter is asked for numbers, whatever the caller gets: %s',
  async asked => {
    const upstream = await FakeUpstream.open((response, { text }) => {
      const { encoding_format } = JSON.parse(text)
      const data = encoding_format === 'base64' ? [] : [{ object: 'embedding', index: 0, embedding: VECTOR }]
      const answer = { object: 'list', model: 'm', data, usage: { prompt_tokens: 1, total_tokens: 1 } }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    const { dialect = {} } = PRESETS.get('openrouter')!.formats.find(({ format }) => format === 'embeddings')!
    const { server } = await TestServer.open([channelAt(upstream.address, { format: 'embeddings', dialect })])
    try {
      const client = new OpenAI({ baseURL: `${server.address}/v1`, apiKey: KEY, maxRetries: 0 })
      const encoding = asked === undefined ? {} : { encoding_format: asked }
      const { data } = await client.embeddings.create({ model: 'm', input: 'A word.', ...encoding })
      const bytes = Buffer.from(Float32Array.from(VECTOR).buffer).toString('base64')
      expect(data[0]!.embedding).toEqual(asked === 'base64' ? bytes : VECTOR)
    } finally {
      await server.close(0)
      await upstream.close()
    }
  },
)

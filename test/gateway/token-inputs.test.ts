import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { embedding, heard, vectorOf } from '../embedding/upstreams.ts'

/* LangChain's OpenAIEmbeddings sends texts as ids of cl100k_base, whatever model embeds them. */

const { openGateway, openUpstream } = opener()
const TEXTS = ['A long-lived paper boat, über den Teich', '纸船在池塘上漂浮。', '🛶 floats']
const TOKENS = TEXTS.map(text => encode(text))

async function embed(format: string, dialect: JsonObject, input: JsonObject[string]) {
  const upstream = await openUpstream(embedding(format))
  const formats = [
    { format, baseUrl: `${upstream.address}/v1`, auth: 'bearer' as const, headers: {}, query: {}, dialect },
  ]
  const testServer = await openGateway([channelAt('', { formats })])
  const { status, json } = await testServer.ask('/v1/embeddings', { model: 'm', input })
  return { status, json, texts: upstream.seen.flatMap(seen => heard(format, seen).texts) }
}

test.each([
  ['contents', {}],
  ['cohere', {}],
  ['embeddings', { tokens: false }],
  ['embeddings', { tokens: false, batch: 1 }],
])('token ids reach %s with %j as texts', async (format, dialect) => {
  const { status, json, texts } = await embed(format, dialect, TOKENS)
  expect(status).toBe(200)
  expect(texts).toEqual(TEXTS)
  expect(json.data.map((one: { embedding: number[] }) => one.embedding)).toEqual(TEXTS.map(vectorOf))
})

test('one list of token ids is one text', async () => {
  expect((await embed('embeddings', { tokens: false }, TOKENS[0]!)).texts).toEqual([TEXTS[0]])
})

test('token ids reach an upstream that takes them unchanged', async () => {
  expect((await embed('embeddings', {}, TOKENS)).texts).toEqual(TOKENS.map(String))
})

test.each(['contents', 'embeddings'])('ids that the vocabulary lacks are refused before %s', async format => {
  const { status, json, texts } = await embed(format, { tokens: false }, [[1, 2], [200_000]])
  expect([status, json.error.code, texts]).toEqual([422, 'cannot_express', []])
})

test.each(['mistral', 'voyage', 'jina', 'together', 'dashscope', 'openrouter', 'ollama', 'google'])(
  '%s gets no token ids',
  vendor => {
    expect(PRESETS.get(vendor)!.formats.find(({ format }) => format === 'embeddings')?.dialect).toMatchObject({
      tokens: false,
    })
  },
)

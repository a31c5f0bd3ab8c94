import { afterEach, expect, test } from 'vitest'
import { channelAt } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Mistral's SDKs (mistralai 3.7.0, PyPI) refuse an answer of vectors without an id, which other vendors do not send. */

const VECTOR = [0.25, -1.5]
const ANSWERS: { readonly [format: string]: object } = {
  embeddings: {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: VECTOR }],
    model: 'm',
    usage: { prompt_tokens: 1, total_tokens: 1 },
  },
  contents: { embeddings: [{ values: VECTOR }] },
  cohere: { id: 'up-1', embeddings: { float: [VECTOR] }, meta: { billed_units: { input_tokens: 1 } } },
}

let open: readonly (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open) await close()
})

const answerTo = async (format: string, client: string) => {
  const upstream = await FakeUpstream.open(response => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWERS[format]))
  })
  const testServer = await TestServer.open([channelAt(upstream.address, { format })])
  open = [() => testServer.server.close(0), () => upstream.close()]
  const { json } = await testServer.ask(
    '/v1/embeddings',
    { model: 'm', input: ['a'] },
    { headers: { 'user-agent': client } },
  )
  return json
}

test.each(Object.keys(ANSWERS))('vectors of an upstream of %s have an id for Mistral’s SDK', async format => {
  for (const client of ['mistral-client-python/3.7.0', 'mistral-client-typescript/1.10.0'])
    expect(await answerTo(format, client)).toMatchObject({
      id: expect.stringMatching(/./),
      object: 'list',
      data: [{ embedding: VECTOR }],
      usage: { total_tokens: expect.any(Number) },
    })
})

test('vectors for OpenAI’s SDK have the fields that the upstream sent', async () => {
  expect(await answerTo('embeddings', 'OpenAI/Python 2.9.0')).toEqual(ANSWERS['embeddings'])
})

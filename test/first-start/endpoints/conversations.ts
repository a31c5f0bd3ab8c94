import assert from 'node:assert/strict'
import { framesIn } from '../../builders/frames.ts'
import { eventsOf } from '../ask.ts'
import type { Cases } from '../endpoints.ts'
import { HOSTED_CASES } from './hosted.ts'
import { SAID, TURNS } from './said.ts'

const CONVERSE = [{ role: 'user', content: [{ text: 'Say hello.' }] }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]

/** Returns the text of a stream, joined from the chunks in its events. */
const joined = (events: readonly object[], piece: (event: never) => string | undefined): string =>
  events.map(event => piece(event as never) ?? '').join('')

interface Candidates {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly { readonly text?: string }[] } }[]
}
const textIn = ({ candidates }: Candidates): string | undefined => candidates?.[0]?.content?.parts?.[0]?.text

/** Returns the cases of an endpoint of interactions. */
const interaction = (path: string): Cases[string] => ({
  whole: async ({ ask, model }) => {
    const { json } = await ask(path, { body: { model, input: 'Say hello.' } })
    assert.equal(json.steps.at(-1).content[0].text, SAID)
    assert.equal(json.status, 'completed')
  },
  streamed: async ({ ask, model }) => {
    const { text } = await ask(path, { body: { model, input: 'Say hello.', stream: true } })
    const events = text.matchAll(/^data: (\{.*\})$/gm).map(([, data]) => JSON.parse(data!))
    assert.equal(
      joined([...events], ({ delta }: { delta?: { text?: string } }) => delta?.text),
      SAID,
    )
    assert.match(text, /event: done\ndata: \[DONE\]\n\n$/)
  },
})

export const CONVERSATION_CASES: Cases = {
  'POST /v1/chat/completions': {
    whole: async ({ ask, model }) => {
      const { json } = await ask('/v1/chat/completions', { body: { model, messages: TURNS } })
      assert.equal(json.choices[0].message.content, SAID)
      assert.equal(json.usage.total_tokens, 21)
    },
    streamed: async ({ ask, model }) => {
      const answer = await ask('/v1/chat/completions', { body: { model, messages: TURNS, stream: true } })
      type Chunk = { choices: { delta: { content?: string } }[] }
      assert.equal(
        joined(eventsOf(answer), ({ choices }: Chunk) => choices[0]?.delta.content),
        SAID,
      )
      assert.match(answer.text, /data: \[DONE\]\n\n$/)
    },
  },
  'POST /v1/responses': {
    whole: async ({ ask, model, made }) => {
      const { json } = await ask('/v1/responses', { body: { model, input: 'Say hello.' } })
      assert.equal(json.output.at(-1).content[0].text, SAID)
      assert.equal(json.status, 'completed')
      made.set('response', json.id)
    },
    streamed: async ({ ask, model }) => {
      const events = eventsOf(await ask('/v1/responses', { body: { model, input: 'Say hello.', stream: true } }))
      const texts = events.filter(({ type }) => type === 'response.output_text.delta')
      assert.equal(
        joined(texts, ({ delta }: { delta: string }) => delta),
        SAID,
      )
      assert.equal(events.at(-1).type, 'response.completed')
    },
  },
  'POST /v1/responses/input_tokens': async ({ ask, model }) => {
    const { json } = await ask('/v1/responses/input_tokens', { body: { model, input: 'Say hello.' } })
    assert.ok(json.input_tokens > 0)
  },
  'POST /v1/responses/compact': async ({ ask, model }) => {
    const { json } = await ask('/v1/responses/compact', { body: { model, input: 'Say hello.' } })
    assert.equal(json.object, 'response.compaction')
    assert.equal(json.output.at(-1).type, 'compaction')
  },
  'POST /v1/messages': {
    whole: async ({ ask, model }) => {
      const { json } = await ask('/v1/messages', { body: { model, max_tokens: 100, messages: TURNS } })
      assert.equal(json.content[0].text, SAID)
      assert.equal(json.stop_reason, 'end_turn')
    },
    streamed: async ({ ask, model }) => {
      const events = eventsOf(
        await ask('/v1/messages', { body: { model, max_tokens: 100, messages: TURNS, stream: true } }),
      )
      assert.equal(
        joined(events, ({ delta }: { delta?: { text?: string } }) => delta?.text),
        SAID,
      )
      assert.equal(events.at(-1).type, 'message_stop')
    },
  },
  'POST /v2/chat': {
    whole: async ({ ask, model }) => {
      const { json } = await ask('/v2/chat', { body: { model, messages: TURNS } })
      assert.equal(json.message.content[0].text, SAID)
      assert.equal(json.finish_reason, 'COMPLETE')
    },
    streamed: async ({ ask, model }) => {
      const answer = await ask('/v2/chat', { body: { model, messages: TURNS, stream: true } })
      type Chunk = { delta?: { message?: { content?: { text?: string } } } }
      assert.equal(
        joined(eventsOf(answer), ({ delta }: Chunk) => delta?.message?.content?.text),
        SAID,
      )
      assert.match(answer.text, /data: \[DONE\]\n\n$/)
    },
  },
  'POST /v1/messages/count_tokens': async ({ ask, model }) => {
    const { json } = await ask('/v1/messages/count_tokens', { body: { model, messages: TURNS } })
    assert.ok(json.input_tokens > 0)
  },
  'POST /v1beta/models/{model}:generateContent': async ({ ask, model }) => {
    const { json } = await ask(`/v1beta/models/${model}:generateContent`, { body: { contents: CONTENTS } })
    assert.equal(textIn(json), SAID)
  },
  'POST /v1beta/models/{model}:streamGenerateContent': async ({ ask, model }) => {
    const path = `/v1beta/models/${model}:streamGenerateContent`
    assert.equal(joined(eventsOf(await ask(`${path}?alt=sse`, { body: { contents: CONTENTS } })), textIn), SAID)
    assert.equal(joined((await ask(path, { body: { contents: CONTENTS } })).json, textIn), SAID)
  },
  'POST /v1beta/interactions': interaction('/v1beta/interactions'),
  'POST /v1/interactions': interaction('/v1/interactions'),
  'POST /v1beta/models/{model}:countTokens': async ({ ask, model }) => {
    const { json } = await ask(`/v1beta/models/${model}:countTokens`, { body: { contents: CONTENTS } })
    assert.ok(json.totalTokens > 0)
  },
  'POST /model/{model}/converse': async ({ ask, model }) => {
    const { json } = await ask(`/model/${model}/converse`, { body: { messages: CONVERSE } })
    assert.equal(json.output.message.content.at(-1).text, SAID)
  },
  'POST /model/{model}/converse-stream': async ({ ask, model }) => {
    const { bytes, headers } = await ask(`/bedrock/model/${model}/converse-stream`, { body: { messages: CONVERSE } })
    assert.equal(headers['content-type'], 'application/vnd.amazon.eventstream')
    const texts = framesIn(bytes).map(({ data }) => data.delta?.text ?? '')
    assert.equal(texts.join(''), SAID)
  },
  'POST /model/{model}/count-tokens': async ({ ask, model }) => {
    const body = { input: { converse: { messages: CONVERSE } } }
    const { json } = await ask(`/model/${model}/count-tokens`, { body })
    assert.ok(json.inputTokens > 0)
  },
  ...HOSTED_CASES,
  'POST /v1beta/models/{model}:embedContent': async ({ ask, model }) => {
    const content = { parts: [{ text: 'hello' }] }
    const { json } = await ask(`/v1beta/models/${model}:embedContent`, { body: { content } })
    assert.ok(json.embedding.values.length > 1)
  },
  'POST /v1beta/models/{model}:batchEmbedContents': async ({ ask, model }) => {
    const requests = ['hello', 'a horse'].map(text => ({ model: `models/${model}`, content: { parts: [{ text }] } }))
    const { json } = await ask(`/v1beta/models/${model}:batchEmbedContents`, { body: { requests } })
    assert.equal(json.embeddings.length, 2)
  },
  'POST /v1beta/models/{model}:predict': async ({ ask, model }) => {
    const instances = [{ content: 'hello' }, { content: 'a horse' }]
    const { json } = await ask(`/v1beta/models/${model}:predict`, { body: { instances } })
    assert.equal(json.predictions.length, 2)
  },
  'POST /v1/completions': {
    whole: async ({ ask, model }) => {
      const { json } = await ask('/v1/completions', { body: { model, prompt: 'Once upon a time' } })
      assert.equal(json.choices[0].text, SAID)
    },
    streamed: async ({ ask, model }) => {
      const events = eventsOf(await ask('/v1/completions', { body: { model, prompt: 'Once', stream: true } }))
      assert.equal(
        joined(events, ({ choices }: { choices: { text: string }[] }) => choices[0]?.text),
        SAID,
      )
    },
  },
  'POST /v1/embeddings': async ({ ask, model }) => {
    const { json } = await ask('/v1/embeddings', { body: { model, input: 'hello' } })
    assert.ok(json.data[0].embedding.length > 1)
  },
  'POST /v1/rerank': async ({ ask, model }) => {
    const documents = ['hello', 'a horse']
    const { json } = await ask('/v1/rerank', { body: { model, query: 'a greeting', documents } })
    assert.ok(json.results[0].relevance_score > 0)
  },
  'POST /v2/rerank': async ({ ask, model }) => {
    const documents = ['hello', 'a horse']
    const { json } = await ask('/v2/rerank', { body: { model, query: 'a greeting', documents } })
    assert.ok(json.results[0].relevance_score > 0)
  },
  'POST /v1/embed': async ({ ask, model }) => {
    const { json } = await ask('/v1/embed', { body: { model, texts: ['hello'], input_type: 'search_query' } })
    assert.ok(json.embeddings[0].length > 1)
  },
  'POST /v2/embed': async ({ ask, model }) => {
    const body = { model, texts: ['hello'], input_type: 'search_query', embedding_types: ['float'] }
    const { json } = await ask('/v2/embed', { body })
    assert.ok(json.embeddings.float[0].length > 1)
  },
}

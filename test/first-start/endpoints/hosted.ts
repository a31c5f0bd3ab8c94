import assert from 'node:assert/strict'
import { framesIn } from '../../builders/frames.ts'
import { eventsOf } from '../ask.ts'
import type { Cases } from '../endpoints.ts'
import { SAID, TURNS } from './said.ts'

/* Endpoints of clouds for requests of other formats, with the model in the path. */

const GOOGLE = '/v1/projects/any/locations/global/publishers'
const CLAUDE = { max_tokens: 100, messages: TURNS }
const INVOKED = { anthropic_version: 'bedrock-2023-05-31', ...CLAUDE }
const ON_VERTEX = { anthropic_version: 'vertex-2023-10-16', ...CLAUDE }
const CONTENTS = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]

interface Delta {
  readonly delta?: { readonly text?: string }
}
const textOf = (events: readonly Delta[]): string => events.map(({ delta }) => delta?.text ?? '').join('')

export const HOSTED_CASES: Cases = {
  'POST /model/{model}/invoke': async ({ ask, model }) => {
    const { json } = await ask(`/model/${model}/invoke`, { body: INVOKED })
    assert.equal(json.content[0].text, SAID)
  },
  'POST /model/{model}/invoke-with-response-stream': async ({ ask, model }) => {
    const { bytes } = await ask(`/bedrock/model/${model}/invoke-with-response-stream`, { body: INVOKED })
    const events = framesIn(bytes).map(({ data }) => JSON.parse(Buffer.from(data.bytes, 'base64').toString()))
    assert.equal(textOf(events), SAID)
    assert.equal(events.at(-1).type, 'message_stop')
  },
  'POST /openai/deployments/{model}/chat/completions': async ({ ask, model }) => {
    const { json } = await ask(`/openai/deployments/${model}/chat/completions`, { body: { messages: TURNS } })
    assert.equal(json.choices[0].message.content, SAID)
  },
  'POST /v1/publishers/anthropic/models/{model}:rawPredict': async ({ ask, model }) => {
    const { json } = await ask(`${GOOGLE}/anthropic/models/${model}:rawPredict`, { body: ON_VERTEX })
    assert.equal(json.content[0].text, SAID)
    const counted = await ask(`${GOOGLE}/anthropic/models/count-tokens:rawPredict`, { body: { ...ON_VERTEX, model } })
    assert.ok(counted.json.input_tokens > 0)
  },
  'POST /v1/publishers/anthropic/models/{model}:streamRawPredict': async ({ ask, model }) => {
    const body = { ...ON_VERTEX, stream: true }
    assert.equal(textOf(eventsOf(await ask(`${GOOGLE}/anthropic/models/${model}:streamRawPredict`, { body }))), SAID)
  },
  'POST /v1/publishers/google/models/{model}:generateContent': async ({ ask, model }) => {
    const { json } = await ask(`${GOOGLE}/google/models/${model}:generateContent`, { body: { contents: CONTENTS } })
    assert.equal(json.candidates[0].content.parts[0].text, SAID)
  },
  'POST /v1/publishers/google/models/{model}:streamGenerateContent': async ({ ask, model }) => {
    const path = `${GOOGLE}/google/models/${model}:streamGenerateContent?alt=sse`
    type Chunk = { candidates?: { content?: { parts?: { text?: string }[] } }[] }
    const events: readonly Chunk[] = eventsOf(await ask(path, { body: { contents: CONTENTS } }))
    assert.equal(events.map(({ candidates }) => candidates?.[0]?.content?.parts?.[0]?.text ?? '').join(''), SAID)
  },
}

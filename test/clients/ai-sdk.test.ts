import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, isStepCount, jsonSchema, type LanguageModel, Output, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../builders/time.ts'
import { RULES, SCHEMA, type TestServer } from './caller.ts'
import { PROOF, type Scene, USAGE } from './scene.ts'
import { FORMATS, Stage, writeFrame } from './stage.ts'

interface Provider {
  readonly name: string
  readonly format: string
  model(testServer: TestServer): LanguageModel
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'openai',
    format: 'responses',
    model: ({ address, key }) => createOpenAI({ baseURL: `${address}/v1`, apiKey: key })('m'),
  },
  {
    name: 'openai.chat',
    format: 'chat',
    model: ({ address, key }) => createOpenAI({ baseURL: `${address}/v1`, apiKey: key }).chat('m'),
  },
  {
    name: 'openai-compatible',
    format: 'chat',
    model: ({ address, key }) =>
      createOpenAICompatible({
        name: 'gateway',
        baseURL: `${address}/v1`,
        apiKey: key,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })('m'),
  },
  {
    name: 'anthropic',
    format: 'messages',
    model: ({ address, key }) => createAnthropic({ baseURL: `${address}/v1`, apiKey: key })('m'),
  },
  {
    name: 'google',
    format: 'contents',
    model: ({ address, key }) => createGoogleGenerativeAI({ baseURL: `${address}/v1beta`, apiKey: key })('m'),
  },
]

const CALLS: Scene = {
  text: 'Let me look.',
  calls: [
    { id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } },
    { id: 'call_2', name: 'get_weather', arguments: { city: 'Bern' } },
  ],
}
const THOUGHT: Scene = { thought: 'I need the weather.', calls: CALLS.calls! }

const tools = {
  get_weather: tool({
    description: 'The weather of a city.',
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    }),
    execute: async ({ city }) => ({ city, sky: 'rain' }),
  }),
}

const results = [
  { name: 'get_weather', output: { city: 'Paris', sky: 'rain' } },
  { name: 'get_weather', output: { city: 'Bern', sky: 'rain' } },
]
const calls = CALLS.calls!.map(({ name, arguments: input }) => ({ name, arguments: input }))

/** The same question, whole and streamed. */
const ways = [
  { way: 'generateText', ask: generateText },
  {
    way: 'streamText',
    ask: async (options: Parameters<typeof generateText>[0]) => {
      const faults: unknown[] = []
      const stream = streamText({
        ...(options as object),
        onError: ({ error }: { error: unknown }) => void faults.push(error),
      } as never)
      await stream.consumeStream({ onError: () => {} })
      if (faults.length > 0) throw faults[0]
      return {
        text: await stream.text,
        reasoningText: await stream.reasoningText,
        finishReason: await stream.finishReason,
        usage: await stream.usage,
        steps: await stream.steps,
      }
    },
  },
]

describe.each(PROVIDERS.filter(({ format }) => FORMATS.includes(format)))('AI SDK, $name', ({ model, format: own }) => {
  describe.each(FORMATS)('before an upstream of %s', format => {
    let stage: Stage
    beforeAll(async () => void (stage = await Stage.open(format)))
    afterAll(() => stage.close())

    describe.each(ways)('$way', ({ ask }) => {
      const base = () => ({ model: model(stage.address), system: RULES, maxRetries: 0, maxOutputTokens: 1000 })

      test('a text', async () => {
        stage.plays({ text: 'Hello, wörld.' })
        const got = await ask({ ...base(), prompt: 'Hi!' })
        expect(got).toMatchObject({ text: 'Hello, wörld.', finishReason: 'stop' })
        expect(got.usage).toMatchObject({ inputTokens: USAGE.input, outputTokens: USAGE.output })
        expect(stage.heard()).toMatchObject({
          turns: [
            { role: 'system', text: RULES },
            { role: 'user', text: 'Hi!' },
          ],
          limit: 1000,
        })
      })

      test('parallel tools, run, and the answer to their results', async () => {
        stage.plays(CALLS, { text: 'Rain in both.' })
        const got = await ask({
          ...base(),
          tools,
          stopWhen: isStepCount(3),
          prompt: 'Weather?',
          providerOptions: OPTIONS,
        })
        expect(got).toMatchObject({ text: 'Rain in both.', finishReason: 'stop' })
        expect(got.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
        expect(stage.heard(1).turns.slice(1)).toEqual([
          { role: 'user', text: 'Weather?' },
          { role: 'assistant', text: CALLS.text, calls },
          { role: 'tool', text: '', results },
        ])
      })

      test('the signature of reasoning before calls returns to its issuer', async () => {
        stage.plays(THOUGHT, { text: 'Rain in both.' })
        const got = await ask({
          ...base(),
          tools,
          stopWhen: isStepCount(3),
          prompt: 'Weather?',
          providerOptions: THINKING,
        })
        expect(got.text).toBe('Rain in both.')
        if (own !== 'chat') expect(got.steps[0]!.reasoningText).toBe(THOUGHT.thought)
        const [, , turn] = stage.heard(1).turns
        expect(turn).toMatchObject({ role: 'assistant', calls })
        if (format !== 'chat' && format !== 'cohere-chat') expect(turn!.proofs).toEqual([PROOF])
      })

      test('an answer of a given shape', async () => {
        stage.plays({ text: '{"answer":42}' })
        const got = await ask({
          ...base(),
          prompt: 'Six times seven?',
          providerOptions: OPTIONS,
          output: Output.object({ schema: jsonSchema(SCHEMA as never) }),
        } as never)
        expect(JSON.parse(got.text)).toEqual({ answer: 42 })
        expect(stage.heard().schema).toMatchObject({ properties: SCHEMA.properties, required: SCHEMA.required })
      })

      test.each([400, 404, 429, 500, 503])('an upstream’s %i', async status => {
        stage.fails(status, `The upstream says ${status}.`)
        const thrown = await ask({ ...base(), prompt: 'Hi!' }).catch((thrown: unknown) => thrown)
        expect(APICallError.isInstance(thrown), String(thrown)).toBe(true)
        expect((thrown as APICallError).message).toContain(`The upstream says ${status}.`)
      })
    })

    test('leaves, and the upstream is let go', async () => {
      const frames = stage.format.frames({ text: 'Once upon a time there was' })
      const words = frames.findIndex(frame => frame.includes('Once upon'))
      stage.does(response => {
        for (const frame of frames.slice(0, words + 1)) writeFrame(response, stage.format, frame)
      })
      const leaving = new AbortController()
      const stream = streamText({ model: model(stage.address), prompt: 'Hi!', abortSignal: leaving.signal })
      for await (const part of stream.fullStream) if (part.type === 'text-delta') leaving.abort()
      await until(() => stage.seen[0]?.brokenAt !== undefined)
    })
  })
})

/** Options: nothing is stored upstream, and unknown models may be asked for a schema, too. */
const OPTIONS = { openai: { store: false }, anthropic: { structuredOutputMode: 'outputFormat' } }

/** Each provider's setting that requests reasoning. */
const THINKING = {
  openai: { reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true, store: false },
  gateway: { reasoningEffort: 'high' },
  anthropic: { thinking: { type: 'adaptive' }, effort: 'high' },
  google: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } },
}

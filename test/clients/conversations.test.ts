import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PNG } from '../builders/media.ts'
import { WAYS } from '../builders/streams.ts'
import { RULES, SCHEMA } from './caller.ts'
import { CALLERS } from './callers/index.ts'
import { PROOF, type Scene, USAGE } from './scene.ts'
import { FORMATS, Stage } from './stage.ts'

const HELLO: Scene = { text: 'Hello, wörld 🌍: “yes”.' }
const WEATHER: Scene = { calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Zürich' } }] }
const BOTH: Scene = {
  text: 'Let me look.',
  calls: [
    { id: 'call_1', name: 'get_weather', arguments: { city: 'Paris' } },
    { id: 'call_2', name: 'get_time', arguments: { zone: 'CET' } },
  ],
}
const THOUGHT: Scene = { thought: 'The user greets me.', text: 'Hello.' }
const THOUGHT_CALL: Scene = { thought: 'I need the weather.', ...WEATHER }
const JSON_ANSWER: Scene = { text: '{"answer":42}' }

/** Formats whose upstreams do not sign their reasoning. */
const UNSIGNED: ReadonlySet<string> = new Set(['chat', 'cohere-chat'])

const system = { role: 'system', text: RULES }
const user = (text: string) => ({ role: 'user', text })
const saidOf = ({ calls = [] }: Scene) => calls.map(({ name, arguments: input }) => ({ name, arguments: input }))
describe.each(CALLERS.filter(({ format }) => FORMATS.includes(format)))('$name', caller => {
  describe.each(FORMATS)('before an upstream of %s', format => {
    let stage: Stage
    beforeAll(async () => void (stage = await Stage.open(format)))
    afterAll(() => stage.close())

    describe.each(WAYS)('$way', ({ stream }) => {
      test('a text, and a second turn', async () => {
        stage.plays(HELLO, { text: 'Bye.' })
        const talk = caller.open(stage.address)
        const got = await talk.say({ text: 'Hi!' }, { stream })
        expect(got).toMatchObject({ text: HELLO.text, calls: [], finish: caller.words.stop })
        expect([got.input, got.output]).toEqual([USAGE.input, USAGE.output])
        expect(stage.heard()).toMatchObject({ turns: [system, user('Hi!')], tools: [], limit: 1000 })

        expect((await talk.say({ text: 'Bye!' }, { stream })).text).toBe('Bye.')
        const spoken = [system, user('Hi!'), { role: 'assistant', text: HELLO.text }, user('Bye!')]
        expect(stage.heard(1).turns).toEqual(spoken)
      })

      test('a tool call and its result', async () => {
        stage.plays(WEATHER, { text: 'Rain.' })
        const talk = caller.open(stage.address)
        const got = await talk.say({ text: 'Weather?' }, { stream, tools: true })
        expect(got).toMatchObject({ text: '', calls: saidOf(WEATHER), finish: caller.words.calls })
        expect(stage.heard().tools).toEqual(['get_weather', 'get_time'])

        const end = await talk.say({ outputs: [{ sky: 'rain' }] }, { stream, tools: true })
        expect(end).toMatchObject({ text: 'Rain.', finish: caller.words.stop })
        expect(stage.heard(1).turns).toEqual([
          system,
          user('Weather?'),
          { role: 'assistant', text: '', calls: saidOf(WEATHER) },
          { role: 'tool', text: '', results: [{ name: 'get_weather', output: { sky: 'rain' } }] },
        ])
      })

      test('parallel tool calls after a text, and their results', async () => {
        stage.plays(BOTH, { text: 'Rain at noon.' })
        const talk = caller.open(stage.address)
        const got = await talk.say({ text: 'Both?' }, { stream, tools: true })
        expect(got).toMatchObject({ text: BOTH.text, calls: saidOf(BOTH), finish: caller.words.calls })

        const outputs = [{ sky: 'rain' }, { time: '12:00' }]
        expect((await talk.say({ outputs, text: 'And?' }, { stream, tools: true })).text).toBe('Rain at noon.')
        expect(stage.heard(1).turns).toEqual([
          system,
          user('Both?'),
          { role: 'assistant', text: BOTH.text, calls: saidOf(BOTH) },
          {
            role: 'tool',
            text: '',
            results: [
              { name: 'get_weather', output: outputs[0] },
              { name: 'get_time', output: outputs[1] },
            ],
          },
          user('And?'),
        ])
      })

      test('thoughts, before an upstream that has them', async () => {
        stage.plays(THOUGHT)
        const got = await caller.open(stage.address).say({ text: 'Hi!' }, { stream, thinks: true })
        expect(got).toMatchObject({ text: 'Hello.', thought: THOUGHT.thought, finish: caller.words.stop })
        expect(stage.heard().thinks).toBe(true)
      })

      test('the signature of reasoning before a call returns to its issuer', async () => {
        stage.plays(THOUGHT_CALL, { text: 'Rain.' })
        const talk = caller.open(stage.address)
        const got = await talk.say({ text: 'Weather?' }, { stream, thinks: true, tools: true })
        expect(got).toMatchObject({ thought: THOUGHT_CALL.thought, calls: saidOf(WEATHER) })

        await talk.say({ outputs: [{ sky: 'rain' }] }, { stream, thinks: true, tools: true })
        const turn = stage.heard(1).turns[2]!
        expect(turn).toMatchObject({ role: 'assistant', calls: saidOf(WEATHER) })
        if (!UNSIGNED.has(format)) expect(turn.proofs).toEqual([PROOF])
      })

      test('an answer of a given shape', async () => {
        stage.plays(JSON_ANSWER)
        const got = await caller.open(stage.address).say({ text: 'Six times seven?' }, { stream, schema: true })
        expect(JSON.parse(got.text)).toEqual({ answer: 42 })
        expect(stage.heard().schema).toEqual(SCHEMA)
      })
    })

    test('a picture', async () => {
      stage.plays({ text: 'A dot.' })
      await caller.open(stage.address).say({ text: 'What is it?', image: PNG }, { stream: false })
      expect(stage.heard().turns).toEqual([system, { ...user('What is it?'), images: [PNG] }])
    })
  })
})

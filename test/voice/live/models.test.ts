import { describe, expect, it, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Effort } from '../../../src/canonical/request.ts'
import type { VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import {
  audio,
  COMMIT,
  CREATE,
  calls,
  inputTranscript,
  Machine,
  type MachineOptions,
  outputTranscript,
  result,
  SETUP_COMPLETE,
  spoken,
  TURN_COMPLETE,
  userText,
  written,
} from './machine.ts'

/*
 * Features of Google's models in sessions, as pydantic-ai 2026-11 (profiles/google.py), LiveKit 1.8.9 and pipecat 1.14
 * verified at the Gemini API and at Google Cloud. Anything else ends the session with 1007.
 */
const LEVELS = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']
const MODELS: {
  readonly [model: string]: {
    /** Thinking settings that are accepted. `undefined`: none may be absent. */
    readonly thinking: readonly (string | number | undefined)[]
    /** Behaviors of functions that make the model wait, or the only one that it accepts. */
    readonly behavior: string | undefined
    readonly callsInTurns: boolean
    readonly audioInTurns: boolean
  }
} = {
  'gemini-2.5-flash-native-audio-preview-12-2025': {
    thinking: [undefined, 0, 1024, 8192, 24_576],
    ...{ behavior: undefined, callsInTurns: false, audioInTurns: false },
  },
  'gemini-live-2.5-flash': {
    thinking: [undefined],
    ...{ behavior: undefined, callsInTurns: false, audioInTurns: false },
  },
  'gemini-3.1-flash-live-preview': {
    thinking: [undefined, ...LEVELS],
    ...{ behavior: undefined, callsInTurns: false, audioInTurns: true },
  },
  'gemini-3.8-live': { thinking: [undefined], behavior: 'BLOCKING', callsInTurns: true, audioInTurns: true },
  'gemini-3.8-live-extended-thinking': {
    thinking: LEVELS.slice(1),
    ...{ behavior: 'NON_BLOCKING', callsInTurns: true, audioInTurns: true },
  },
}
const NAMES = Object.keys(MODELS)

const EFFORTS: readonly (Effort | undefined)[] = [
  ...([undefined, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const),
]
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  parameters: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      city: { $ref: '#/$defs/city' },
      unit: { type: ['string', 'null'], enum: ['C', 'F', null] },
      days: { type: 'array', items: { type: 'integer' } },
    },
    required: ['city'],
    additionalProperties: false,
    $defs: { city: { type: 'string', description: 'A city.' } },
  },
} as const

const update = (settings: VoiceSessionSettings): ClientEvent => ({ type: 'session-update', settings })
const ready = (options: MachineOptions, settings: VoiceSessionSettings = {}): Machine =>
  new Machine(options).client(update(settings)).server(SETUP_COMPLETE)
const setupOf = (machine: Machine) =>
  machine.frames[0]!['setup'] as {
    readonly model: string
    readonly generationConfig: { readonly thinkingConfig?: { thinkingLevel?: string; thinkingBudget?: number } }
    readonly tools?: readonly [{ readonly functionDeclarations: readonly JsonObject[] }]
  }
const functionsOf = (machine: Machine) => setupOf(machine).tools?.[0].functionDeclarations
const CALL = calls({ id: 'call_up', name: 'get_weather', args: { city: 'Paris' } })
const VOICE_MESSAGE: ClientEvent = {
  type: 'item-create',
  item: {
    role: 'user',
    content: [
      { type: 'text', text: 'Listen:' },
      { type: 'media', kind: 'audio', source: { type: 'base64', mediaType: 'audio/pcm;rate=16000', data: 'BBBB' } },
    ],
  },
}
const HEARD = { realtimeInput: { audio: { mimeType: 'audio/pcm;rate=16000', data: 'BBBB' } } }
const MANUAL = { input: { turnDetection: null } }

describe.each(NAMES)('%s', model => {
  const facts = MODELS[model]!

  test.each(EFFORTS)('takes the thinking of the effort %s', effort => {
    const { generationConfig } = setupOf(ready({ model }, effort === undefined ? {} : { reasoning: { effort } }))
    const { thinkingLevel, thinkingBudget } = generationConfig.thinkingConfig ?? {}
    expect(facts.thinking).toContain(thinkingLevel ?? thinkingBudget)
    expect('thinkingConfig' in generationConfig).toBe((thinkingLevel ?? thinkingBudget) !== undefined)
  })

  test('gets arguments of functions as the subset that sessions know, and waits for results if it can', () => {
    const machine = ready({ model }, { tools: [WEATHER, { type: 'function', name: 'end', parameters: EMPTY }] })
    const behavior = facts.behavior === undefined ? {} : { behavior: facts.behavior }
    expect(functionsOf(machine)).toEqual([
      {
        name: 'get_weather',
        parameters: {
          type: 'OBJECT',
          properties: {
            city: { type: 'STRING', description: 'A city.' },
            unit: { type: 'STRING', enum: ['C', 'F'], nullable: true },
            days: { type: 'ARRAY', items: { type: 'INTEGER' } },
          },
          required: ['city'],
        },
        ...behavior,
      },
      { name: 'end', ...behavior },
    ])
  })

  test('gets calls and results of earlier sessions in a form that it takes', () => {
    const call: ClientEvent = {
      type: 'item-create',
      item: { role: 'assistant', content: [{ type: 'tool-call', id: 'old', name: 'find', arguments: '{"a":1}' }] },
    }
    const machine = ready({ model }).client(call, result('old', 'found'), userText('And?'), CREATE)
    const [frame] = machine.frames.slice(1)
    const parts = (frame!['clientContent'] as { turns: { parts: JsonObject[] }[] }).turns.flatMap(turn => turn.parts)
    const kinds = parts.flatMap(part => Object.keys(part))
    expect(kinds).toEqual(facts.callsInTurns ? ['functionCall', 'functionResponse', 'text'] : ['text', 'text', 'text'])
    expect(JSON.stringify(parts)).toMatch(/find.*found.*And\?/)
    const reasons = ready({ model }).protocol.losses(call)
    expect(reasons.map(({ reason }) => reason)).toEqual(facts.callsInTurns ? [] : ['calls-as-text'])
  })

  test('hears a voice message that is an item', () => {
    const machine = ready({ model }).client(VOICE_MESSAGE, CREATE)
    const frames = machine.frames.slice(1)
    const said = { role: 'user', parts: [{ text: 'Listen:' }, { inlineData: HEARD.realtimeInput.audio }] }
    expect(frames).toEqual(
      facts.audioInTurns
        ? [{ clientContent: { turns: [said], turnComplete: true } }]
        : [
            { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Listen:' }] }], turnComplete: false } },
            ...[HEARD, { realtimeInput: { audioStreamEnd: true } }],
          ],
    )
  })
})

const EMPTY = { type: 'object', properties: {}, additionalProperties: false }

describe('voice messages of models that take no audio in turns', () => {
  const model = 'gemini-2.5-flash-native-audio-latest'

  it('are turns of the user’s speech without detection', () => {
    const machine = ready({ model, settings: MANUAL }, MANUAL).client(VOICE_MESSAGE, CREATE)
    expect(machine.frames.slice(-3)).toEqual([
      { realtimeInput: { activityStart: {} } },
      HEARD,
      { realtimeInput: { activityEnd: {} } },
    ])
  })

  it('wait for their request while the microphone is on', () => {
    const machine = ready({ model }).client(audio(), VOICE_MESSAGE, audio(), audio())
    expect(JSON.stringify(machine.frames)).not.toContain('BBBB')
    machine.client(CREATE)
    expect(machine.frames).toContainEqual(HEARD)
  })

  it('are their transcript, if the caller states one', () => {
    const part = { type: 'media', kind: 'audio', source: { type: 'base64', mediaType: 'audio/pcm', data: 'BBBB' } }
    const item = { role: 'user', content: [{ ...part, transcript: 'Hello' }] } as const
    const machine = ready({ model }).client({ type: 'item-create', item } as ClientEvent, CREATE)
    expect(machine.frames.slice(1)).toEqual([
      { clientContent: { turns: [{ role: 'user', parts: [{ text: 'Hello' }] }], turnComplete: true } },
    ])
  })
})

it('late voice messages end, so that Gemini 3.1 answers them', () => {
  const machine = ready({ model: 'gemini-3.1-flash-live-preview' }).client(userText('One'), CREATE)
  machine.server(spoken(2), TURN_COMPLETE).client(VOICE_MESSAGE, CREATE)
  expect(machine.frames.slice(-2)).toEqual([HEARD, { realtimeInput: { audioStreamEnd: true } }])
})

it('text beside speech, which nobody says, is no part of the answer', () => {
  const machine = ready({ model: 'gemini-3.1-flash-live-preview' }).client(userText('Hello'), CREATE)
  machine.server(written('**Greeting the user**'), outputTranscript('Hi!'), spoken(2), TURN_COMPLETE)
  expect(machine.of('text-delta')).toEqual([])
  expect(machine.of('part-start').map(({ kind }) => kind)).toEqual(['audio'])
})

describe('calls of a model that goes on talking', () => {
  const model = 'gemini-3.8-live-extended-thinking'

  it('get results that arrive while it talks, and their request is no error', () => {
    const machine = ready({ model }, { tools: [WEATHER] }).client(userText('Weather?'), CREATE)
    machine.server(spoken(2), TURN_COMPLETE, CALL, spoken(2)).client(result('call_up', 'sunny'), CREATE)
    expect(machine.frames.at(-1)).toEqual({
      toolResponse: { functionResponses: [{ id: 'call_up', name: 'get_weather', response: { output: 'sunny' } }] },
    })
    expect(machine.of('error')).toEqual([])
    machine.server(TURN_COMPLETE, spoken(2), TURN_COMPLETE)
    expect(machine.of('response-end').map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })

  it('a second request without results is refused', () => {
    const machine = ready({ model }).client(userText('One'), CREATE, CREATE)
    expect(machine.of('error')).toMatchObject([{ error: { code: 'conversation_already_has_active_response' } }])
  })
})

describe('Google Cloud', () => {
  const dialect = { vertex: true }

  it('completes the turn of a call with its answer, but for the model whose speech is made from text', () => {
    const endsOf = (model: string) => {
      const machine = new Machine({ model, dialect }).client(update({ tools: [WEATHER] }))
      machine.server({ setupComplete: { sessionId: 'x' } }).client(userText('Weather?'), CREATE)
      machine.server(CALL).client(result('call_up', 'sunny'), CREATE).server(TURN_COMPLETE)
      return machine.of('response-end').length
    }
    expect(endsOf('gemini-live-2.5-flash')).toBe(1)
    expect(endsOf('gemini-live-2.5-flash-native-audio')).toBe(2)
    expect(endsOf('gemini-3.8-live')).toBe(2)
  })

  it.each([undefined, 300, 2000])(
    'has no end of audio, so that committed audio ends with silence: %s ms',
    silenceMs => {
      const turnDetection = { type: 'silence', ...(silenceMs === undefined ? {} : { silenceMs }) } as const
      const machine = ready({ model: 'gemini-3.8-live', dialect }, { input: { turnDetection } }).client(audio(), COMMIT)
      const { data } = (machine.frames.at(-1)!['realtimeInput'] as { audio: { data: string } }).audio
      const bytes = Buffer.from(data, 'base64')
      expect(bytes.every(byte => byte === 0)).toBe(true)
      expect(bytes.length / 32).toBeGreaterThan(silenceMs ?? 800)
      expect(JSON.stringify(machine.frames)).not.toContain('audioStreamEnd')
    },
  )
})

describe('a model that only transcribes', () => {
  const model = 'gemini-3.5-transcribe-live'
  const session = { purpose: 'transcription', input: { transcription: { language: 'de' } } } as const

  it('gets the settings of its transcript alone', () => {
    const machine = ready({ model }, { ...session, instructions: 'Be short.', tools: [WEATHER] })
    expect(setupOf(machine)).toEqual({
      model: `models/${model}`,
      generationConfig: { responseModalities: ['TEXT'] },
      inputAudioTranscription: { languageCodes: ['de'] },
    })
    expect(machine.protocol.losses(update(session))).toEqual([])
  })

  it('returns transcripts of detected and of committed speech, without a response', () => {
    for (const detection of [{}, { turnDetection: null }]) {
      const settings = { ...session, input: { ...session.input, ...detection } }
      const machine = ready({ model, settings }, settings).client(audio(), COMMIT)
      machine.server(inputTranscript('Guten'), inputTranscript(' Tag'), TURN_COMPLETE)
      expect(machine.of('input-transcript-done').map(({ text }) => text)).toEqual(['Guten Tag'])
      expect(machine.types).not.toContain('response-start')
      const last = machine.frames.at(-1)
      expect(last).toEqual({
        realtimeInput: 'turnDetection' in detection ? { activityEnd: {} } : { audioStreamEnd: true },
      })
      machine.client(audio(), COMMIT).server(inputTranscript('Ja'), TURN_COMPLETE)
      expect(machine.of('input-transcript-done')).toHaveLength(2)
    }
  })
})

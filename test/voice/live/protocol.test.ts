import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import { fault } from './grammar.ts'
import {
  audio,
  CANCEL,
  COMMIT,
  CREATE,
  calls,
  content,
  GO_AWAY,
  INTERRUPTED,
  inputTranscript,
  Machine,
  type MachineOptions,
  outputTranscript,
  result,
  resumable,
  SETUP_COMPLETE,
  spoken,
  TURN_COMPLETE,
  UNRESUMABLE,
  userText,
  written,
} from './machine.ts'

const update = (settings: VoiceSessionSettings): ClientEvent => ({ type: 'session-update', settings })
const MANUAL = { input: { turnDetection: null } }
const HEARD = { input: { transcription: {} } }
const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const CALL = calls({ id: 'call_up', name: 'get_weather', args: { city: 'Paris' } })
const TURN = (text: string) => ({ turns: [{ role: 'user', parts: [{ text }] }], turnComplete: true })

/** A session after `setupComplete`. */
const ready = (options?: MachineOptions): Machine => new Machine(options).client(update({})).server(SETUP_COMPLETE)
/** The frames sent after the setup. */
const sentBy = (machine: Machine): readonly JsonObject[] => machine.frames.slice(1)

describe('setup', () => {
  it('is sent with the first event, whose settings it has; what follows waits for setupComplete', () => {
    const machine = new Machine({ settings: { instructions: 'Be short.' }, model: 'gemini-live' })
    expect(machine.frames).toEqual([])
    expect(machine.types).toEqual(['session-created'])
    machine.client(
      update({
        tools: [{ type: 'function', name: 'find', description: 'Finds.', parameters: CITY }],
        output: { voice: 'Puck' },
        temperature: 0.5,
        maxTokens: 200,
        input: {
          transcription: { language: 'de' },
          turnDetection: { type: 'silence', silenceMs: 300, interrupt: false },
        },
      }),
      userText('Hello'),
      CREATE,
    )
    expect(machine.frames).toEqual([
      {
        setup: {
          model: 'models/gemini-live',
          generationConfig: {
            responseModalities: ['AUDIO'],
            temperature: 0.5,
            maxOutputTokens: 200,
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
          },
          systemInstruction: { parts: [{ text: 'Be short.' }] },
          tools: [
            {
              functionDeclarations: [
                {
                  ...{ name: 'find', description: 'Finds.' },
                  parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] },
                },
              ],
            },
          ],
          realtimeInputConfig: {
            automaticActivityDetection: { silenceDurationMs: 300 },
            activityHandling: 'NO_INTERRUPTION',
          },
          inputAudioTranscription: { languageCodes: ['de'] },
          outputAudioTranscription: {},
          contextWindowCompression: { slidingWindow: {} },
          sessionResumption: {},
        },
      },
    ])
    expect(machine.types.slice(1)).toEqual(['session-updated', 'item-added', 'item-done', 'response-start'])
    machine.server(SETUP_COMPLETE)
    expect(sentBy(machine)).toEqual([{ clientContent: TURN('Hello') }])
  })

  it('Google’s cloud has a path and names of its own', () => {
    const machine = new Machine({ dialect: { vertex: true } }).client(update({}))
    expect(machine.protocol.address.path).toBe('/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent')
    expect((machine.frames[0]!['setup'] as JsonObject)['model']).toBe('publishers/google/models/gemini-live')
  })

  it('the answer to an update states what is in effect', () => {
    const [stated] = ready()
      .client(
        update({ input: { transcription: { model: 'whisper-1', language: 'de' }, noiseReduction: 'near_field' } }),
      )
      .of('session-updated')
      .slice(-1)
    expect(stated!.settings.input).toEqual({
      ...{ transcription: { language: 'de' }, turnDetection: { type: 'silence' } },
    })
  })

  it('more than eight megabytes before setupComplete end the session with 1009', () => {
    const machine = new Machine()
    for (let count = 0; count < 20; count++) machine.client(audio(400_000))
    expect(machine.end).toMatchObject({ code: 1009 })
  })

  it('settings that change before anything was sent are those of another connection', () => {
    const machine = ready().client(update({ instructions: 'Be long.' }))
    expect(machine.moving).toBe(true)
    machine.open()
    expect((machine.frames[0]!['setup'] as JsonObject)['systemInstruction']).toEqual({ parts: [{ text: 'Be long.' }] })
  })

  it('settings that change later go with the session’s handle, once nothing runs', () => {
    const machine = ready().client(userText('Hello'), CREATE)
    const late = update({ instructions: 'Be long.' })
    expect(machine.protocol.losses(late)).toEqual([
      { kind: 'dropped', path: ['settings', 'instructions'], reason: 'no-change-after-setup' },
    ])
    machine.server(resumable('h1'))
    expect(machine.protocol.losses(late)).toEqual([])
    machine.client(late).server(outputTranscript('Hi'))
    expect(machine.moving).toBe(false)
    machine.server(TURN_COMPLETE)
    expect(machine.moving).toBe(true)
    machine.open()
    expect(machine.frames[0]!['setup']).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be long.' }] },
      sessionResumption: { handle: 'h1' },
    })
  })
})

describe('responses', () => {
  it('speech with its transcript, and usage by modality', () => {
    const machine = ready().client(userText('Hello'), CREATE)
    machine.server(
      content({ modelTurn: { parts: [{ text: 'Thinking', thought: true }] } }),
      outputTranscript('Hi '),
      spoken(480),
      outputTranscript('there.'),
      content({ generationComplete: true }),
      TURN_COMPLETE,
    )
    expect(machine.types.slice(4)).toEqual([
      ...['response-start', 'output-start', 'part-start', 'transcript-delta', 'audio-delta', 'transcript-delta'],
      ...['part-end', 'output-end', 'response-end'],
    ])
    expect(machine.of('response-start')[0]).toMatchObject({ modalities: ['audio'] })
    expect(machine.of('audio-delta')[0]!.audio).toHaveLength(480)
    expect(machine.of('response-end')[0]).toMatchObject({
      status: 'completed',
      usage: { input: 10, output: 4, inputBy: { text: 10 }, outputBy: { audio: 4 } },
    })
    expect(fault(machine.events)).toBeUndefined()
  })

  it('text where text is asked for; what a model says that only speaks', () => {
    const texts = (model: string) => {
      const machine = ready({ model, settings: { modalities: ['text'] } }).client(userText('Hello'), CREATE)
      machine.server(written('Written.'), outputTranscript('Said.'), spoken(2), TURN_COMPLETE)
      return [
        (machine.frames[0]!['setup'] as { generationConfig: JsonObject }).generationConfig['responseModalities'],
        machine.of('text-delta').map(({ text }) => text),
        machine.of('audio-delta').length,
      ]
    }
    expect(texts('gemini-live-2.5-flash')).toEqual([['TEXT'], ['Written.', 'Said.'], 0])
    expect(texts('gemini-2.5-flash-native-audio')).toEqual([['AUDIO'], ['Said.'], 0])
  })

  it('one at a time; a cancelled one ends at once, and the rest of its turn is dropped', () => {
    const machine = ready()
      .client(userText('Hello'), CREATE, { ...CREATE, id: 'e1' })
      .server(spoken(2))
    expect(machine.of('error')[0]).toMatchObject({
      event: 'e1',
      error: { code: 'conversation_already_has_active_response' },
    })
    machine.client(CANCEL)
    expect(machine.of('response-end')[0]).toMatchObject({ status: 'cancelled', reason: 'client_cancelled' })
    expect(machine.of('output-end')[0]).toMatchObject({ status: 'incomplete' })
    const count = machine.events.length
    machine.server(spoken(2), outputTranscript('late'), CALL)
    expect(machine.events).toHaveLength(count)
    expect(sentBy(machine).at(-1)).toEqual({
      toolResponse: {
        functionResponses: [{ id: 'call_up', name: 'get_weather', response: { error: 'The call was cancelled.' } }],
      },
    })
    machine.client({ ...CANCEL, id: 'e2' })
    expect(machine.of('error')[1]).toMatchObject({ event: 'e2', error: { code: 'response_cancel_not_active' } })
    machine
      .client(userText('Again'), CREATE)
      .server(INTERRUPTED, TURN_COMPLETE, outputTranscript('New.'), TURN_COMPLETE)
    expect(machine.of('transcript-delta').map(({ text }) => text)).toEqual(['New.'])
    // The usage of both turns.
    expect(machine.of('response-end')[1]).toMatchObject({ status: 'completed', usage: { input: 20, output: 8 } })
    expect(fault(machine.events)).toBeUndefined()
  })

  it('reasons of the upstream’s own', () => {
    const ended = (turnCompleteReason: string) =>
      ready()
        .client(userText('Hello'), CREATE)
        .server(content({ turnComplete: true, turnCompleteReason }))
        .of('response-end')[0]
    expect(ended('NEED_MORE_INPUT')).toMatchObject({ status: 'completed' })
    expect(ended('GENERATED_AUDIO_SAFETY')).toMatchObject({ status: 'incomplete', reason: 'content_filter' })
    expect(ended('MALFORMED_FUNCTION_CALL')).toMatchObject({
      status: 'failed',
      error: { code: 'malformed_function_call' },
    })
  })

  it('instructions of one response are a turn of the user’s; others than the session’s settings are losses', () => {
    const event: ClientEvent = {
      type: 'response-create',
      settings: { instructions: 'Say hello.', modalities: ['text', 'audio'], temperature: 1, metadata: { a: 'b' } },
    }
    const machine = ready()
    expect(machine.protocol.losses(event)).toEqual([
      { kind: 'changed', path: ['settings', 'instructions'], became: 'Say hello.', reason: 'as-a-turn-of-the-user' },
      { kind: 'dropped', path: ['settings', 'temperature'], reason: 'settings-of-the-session' },
    ])
    machine.client(event)
    expect(sentBy(machine)).toEqual([{ clientContent: TURN('Say hello.') }])
    expect(machine.of('response-start')[0]).toMatchObject({ metadata: { a: 'b' } })
    machine.server(TURN_COMPLETE).client({ type: 'response-create', id: 'e', settings: { detached: true } })
    expect(machine.of('error')[0]).toMatchObject({ event: 'e', error: { kind: 'cannot-express' } })
  })

  it.each(['gemini-3.1-flash-live-preview', 'gemini-3.8-live', 'gemini-2.5-flash-native-audio'])(
    'a response without new input is an empty turn, also after an answer (%s)',
    model => {
      const machine = ready({ model }).client(CREATE)
      machine.server(spoken(2), TURN_COMPLETE).client(CREATE)
      expect(sentBy(machine)).toEqual([
        { clientContent: { turnComplete: true } },
        { clientContent: { turnComplete: true } },
      ])
      machine.server(spoken(2), TURN_COMPLETE)
      expect(machine.of('error')).toEqual([])
      expect(machine.of('response-end')).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    },
  )

  it('instructions behind the results of calls interrupt the answer to the results, not the requested response', () => {
    const machine = ready().client(userText('One'), CREATE)
    machine.server({ toolCall: { functionCalls: [{ id: 'a', name: 'one', args: {} }] } })
    machine.client(
      {
        type: 'item-create',
        item: { role: 'tool', content: [{ type: 'tool-result', id: 'a', content: [{ type: 'text', text: 'ok' }] }] },
      },
      { type: 'response-create', settings: { instructions: 'Be short.' } },
    )
    machine.server({ serverContent: { interrupted: true } }, TURN_COMPLETE, spoken(2), TURN_COMPLETE)
    expect(machine.of('speech-started')).toEqual([])
    expect(machine.of('response-end')).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  })

  it('text after the first answer goes as realtimeInput to models that take no other', () => {
    const machine = ready({ model: 'gemini-3.1-flash-live-preview' }).client(userText('One'), CREATE)
    machine.server(spoken(2), TURN_COMPLETE).client(userText('Two'), CREATE)
    expect(sentBy(machine)).toEqual([{ clientContent: TURN('One') }, { realtimeInput: { text: 'Two' } }])
  })

  it('several texts after the first answer are one frame, because each would interrupt the answer to the one before', () => {
    const machine = ready({ model: 'gemini-3.1-flash-live-preview' }).client(userText('One'), CREATE)
    machine.server(spoken(2), TURN_COMPLETE).client(userText('Two'), userText('Three'), {
      ...{ type: 'response-create', settings: { instructions: 'Be short.' } },
    })
    expect(sentBy(machine).slice(1)).toEqual([{ realtimeInput: { text: 'Two\nThree\nBe short.' } }])
  })
})

describe('the user’s audio', () => {
  it('detected turns: items are made before the first transcript', () => {
    const machine = ready({ settings: HEARD }).client(audio(32_000), audio(32_000))
    expect(sentBy(machine)).toHaveLength(2)
    expect(sentBy(machine)[0]).toEqual({
      realtimeInput: { audio: { mimeType: 'audio/pcm;rate=16000', data: Buffer.alloc(32_000).toString('base64') } },
    })
    machine.server(inputTranscript(' Hello'), inputTranscript(', you.'), spoken(2), TURN_COMPLETE)
    expect(machine.types.slice(2)).toEqual([
      ...['speech-started', 'speech-stopped', 'audio-committed', 'item-added', 'item-done'],
      ...['input-transcript-delta', 'input-transcript-delta', 'response-start', 'output-start', 'part-start'],
      ...['audio-delta', 'input-transcript-done', 'part-end', 'output-end', 'response-end'],
    ])
    expect(machine.of('speech-stopped')[0]).toMatchObject({ atMs: 2000 })
    expect(machine.of('input-transcript-done')[0]).toMatchObject({ text: ' Hello, you.' })
    expect(machine.of('input-transcript-done')[0]!.seconds).toBeGreaterThan(0)
    expect(
      new Set([...machine.of('audio-committed'), ...machine.of('input-transcript-done')].map(({ item }) => item)).size,
    ).toBe(1)
  })

  it('detected turns without transcripts: items are made before the response', () => {
    const machine = ready().client(audio()).server(inputTranscript('unasked'), spoken(2))
    expect(machine.types.slice(2, 6)).toEqual(['audio-committed', 'item-added', 'item-done', 'response-start'])
  })

  it('interruption: speech begins, what is open ends, the rest of the turn’s usage is carried on', () => {
    const machine = ready({ settings: HEARD }).client(audio()).server(spoken(2)).client(audio())
    machine.server(INTERRUPTED, TURN_COMPLETE, inputTranscript('Stop'), spoken(2), TURN_COMPLETE)
    expect(machine.types.slice(machine.types.indexOf('audio-delta') + 1)).toEqual([
      ...['speech-started', 'part-end', 'output-end', 'response-end'],
      ...['speech-stopped', 'audio-committed', 'item-added', 'item-done', 'input-transcript-delta'],
      ...['response-start', 'output-start', 'part-start', 'audio-delta'],
      ...['input-transcript-done', 'part-end', 'output-end', 'response-end'],
    ])
    const [first, second] = machine.of('response-end')
    expect(first).toMatchObject({ status: 'cancelled', reason: 'turn_detected' })
    expect(second).toMatchObject({ status: 'completed', usage: { input: 20 } })
    expect(fault(machine.events)).toBeUndefined()
  })

  it('an interruption of the turn before does not end the response that was asked for since', () => {
    const machine = ready().client(audio()).server(spoken(2)).client(audio()).server(INTERRUPTED)
    machine
      .client(userText('Go on.'), CREATE)
      .server(INTERRUPTED, TURN_COMPLETE, outputTranscript('Yes.'), TURN_COMPLETE)
    expect(machine.of('response-end').map(({ status }) => status)).toEqual(['cancelled', 'completed'])
  })

  it('manual turns: activity begins with audio and ends when a response is asked for', () => {
    const machine = ready({ settings: MANUAL })
    expect(machine.frames[0]).toMatchObject({
      setup: { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } },
    })
    machine.client({ ...COMMIT, id: 'e' })
    expect(machine.of('error')[0]).toMatchObject({ event: 'e', error: { code: 'input_audio_buffer_commit_empty' } })
    machine.client(userText('Listen.'), audio(2), audio(2), COMMIT)
    expect(machine.types.slice(-3)).toEqual(['audio-committed', 'item-added', 'item-done'])
    machine.client(CREATE)
    const kinds = sentBy(machine).map(frame => Object.keys(Object.values(frame)[0] as JsonObject)[0])
    expect(kinds).toEqual(['turns', 'activityStart', 'audio', 'audio', 'activityEnd'])
    expect(sentBy(machine)[0]).toEqual({ clientContent: { ...TURN('Listen.'), turnComplete: false } })
    machine.client(audio(2))
    expect(sentBy(machine)).toHaveLength(5)
    machine.server(spoken(2), TURN_COMPLETE)
    expect(sentBy(machine)).toHaveLength(7)
  })

  it('odd bytes are put together; the half of a sample is dropped at the end', () => {
    const machine = ready({ settings: MANUAL }).client(
      { type: 'audio-append', audio: Uint8Array.of(1, 2, 3) },
      { type: 'audio-append', audio: Uint8Array.of(4, 5) },
      COMMIT,
      { type: 'audio-append', audio: Uint8Array.of(6, 7) },
    )
    const sent = sentBy(machine).flatMap(({ realtimeInput }) => {
      const { audio: one } = realtimeInput as { readonly audio?: { readonly data: string } }
      return one === undefined ? [] : [...Buffer.from(one.data, 'base64')]
    })
    expect(sent).toEqual([1, 2, 3, 4, 6, 7])
  })

  it('committed where turns are detected, the stream ends for now, and the answer comes unasked', () => {
    const machine = ready().client(audio(), COMMIT, CREATE)
    expect(sentBy(machine).at(-1)).toEqual({ realtimeInput: { audioStreamEnd: true } })
    machine.server(spoken(2), TURN_COMPLETE)
    expect(machine.of('response-end')).toHaveLength(1)
  })
})

describe('function calls', () => {
  const called = (...more: readonly JsonObject[]): Machine =>
    ready()
      .client(userText('Weather?'), CREATE)
      .server(...more, CALL)

  it('end a response; results wait for the next, which the model goes on with', () => {
    const machine = called()
    expect(machine.types.slice(-4)).toEqual(['output-start', 'arguments-delta', 'output-end', 'response-end'])
    expect(machine.of('output-start')[0]!.item.content).toEqual([
      { type: 'tool-call', id: 'call_up', name: 'get_weather', arguments: '' },
    ])
    expect(machine.of('arguments-delta')[0]!.text).toBe('{"city":"Paris"}')
    machine.client(result('call_up', 'sunny'))
    expect(sentBy(machine)).toHaveLength(1)
    machine.client(CREATE)
    expect(sentBy(machine)[1]).toEqual({
      toolResponse: { functionResponses: [{ id: 'call_up', name: 'get_weather', response: { output: 'sunny' } }] },
    })
    machine.server(outputTranscript('Sunny.'), TURN_COMPLETE)
    expect(machine.of('response-end').map(({ status }) => status)).toEqual(['completed', 'completed'])
  })

  it('results that are objects go as they are; a result after its response was asked for goes at once', () => {
    const machine = ready()
      .client(userText('Weather?'), CREATE)
      .server(calls({ id: 'a', name: 'one' }, { name: 'two', args: { x: 1 } }))
    const second = machine.of('output-start')[1]!.item.content[0] as { readonly id: string }
    machine.client(result('a', '{"degrees":20}'), CREATE, result(second.id, 'ok'))
    expect(sentBy(machine).slice(1)).toEqual([
      { toolResponse: { functionResponses: [{ id: 'a', name: 'one', response: { degrees: 20 } }] } },
      { toolResponse: { functionResponses: [{ name: 'two', response: { output: 'ok' } }] } },
    ])
  })

  it('a turn that is complete at its call does not end the response after it', () => {
    const machine = new Machine()
      .client(userText('Weather?'), CREATE)
      .server({ setupComplete: { sessionId: 'x' } }, CALL)
      .client(result('call_up', 'sunny'), CREATE)
      .server(TURN_COMPLETE, outputTranscript('Sunny.'), TURN_COMPLETE)
    expect(machine.of('response-end').map(({ usage }) => usage?.input)).toEqual([undefined, 20])
  })

  it('results of cancelled calls are dropped, and the response asked for them is cancelled', () => {
    const machine = called().server({ toolCallCancellation: { ids: ['call_up'] } })
    const sent = sentBy(machine).length
    machine.client(result('call_up', 'sunny'), CREATE)
    expect(sentBy(machine)).toHaveLength(sent)
    expect(machine.of('error')).toEqual([])
    expect(machine.of('response-end')[1]).toMatchObject({ status: 'cancelled', reason: 'turn_detected' })
    machine.client({ ...result('call_none', 'x'), id: 'e' })
    expect(machine.of('error')[0]).toMatchObject({ event: 'e', error: { code: 'invalid_tool_call_id' } })
  })

  it('a call and its result from an earlier session are turns of the history', () => {
    const machine = ready({ model: 'gemini-3.8-live' }).client(
      {
        type: 'item-create',
        item: { role: 'assistant', content: [{ type: 'tool-call', id: 'old', name: 'find', arguments: '{"a":1}' }] },
      },
      result('old', 'found'),
      userText('And?'),
      CREATE,
    )
    expect(sentBy(machine)).toEqual([
      {
        clientContent: {
          turns: [
            { role: 'model', parts: [{ functionCall: { id: 'old', name: 'find', args: { a: 1 } } }] },
            { role: 'user', parts: [{ functionResponse: { id: 'old', name: 'find', response: { output: 'found' } } }] },
            { role: 'user', parts: [{ text: 'And?' }] },
          ],
          turnComplete: true,
        },
      },
    ])
  })
})

describe('connections', () => {
  it('goAway: another connection is asked for at once where nothing runs', () => {
    const machine = ready().client(userText('Hello'), CREATE).server(spoken(2), TURN_COMPLETE, resumable('h1'))
    machine.server(GO_AWAY)
    expect(machine.moving).toBe(true)
    machine.open().server(SETUP_COMPLETE).client(userText('More'), CREATE)
    expect(machine.frames).toMatchObject([{ setup: { sessionResumption: { handle: 'h1' } } }, { clientContent: {} }])
    expect(machine.of('error')).toEqual([])
  })

  it('goAway: at the end of what runs, and when there is a handle', () => {
    const machine = ready().server(resumable('h1')).client(userText('Hello'), CREATE).server(UNRESUMABLE, GO_AWAY)
    machine.server(CALL)
    expect(machine.moving).toBe(false)
    machine.client(result('call_up', 'ok'), CREATE).server(spoken(2), TURN_COMPLETE)
    expect(machine.moving).toBe(false)
    machine.server(resumable('h2'))
    expect(machine.moving).toBe(true)
    expect(machine.open().frames).toMatchObject([{ setup: { sessionResumption: { handle: 'h2' } } }])
  })

  it('goAway without a handle is told, and the end is 1001', () => {
    const machine = ready().client(userText('Hello'), CREATE).server(GO_AWAY)
    expect(machine.of('error')[0]).toMatchObject({ error: { code: 'session_expiring' } })
    machine.close(1000)
    expect(machine.end).toMatchObject({ code: 1001, error: { error: { code: 'session_expired' } } })
    expect(machine.of('response-end')[0]).toMatchObject({ status: 'failed' })
  })

  it('a connection that breaks is made anew by the handle; what ran is reported as lost', () => {
    const machine = ready().server(resumable('h1'), UNRESUMABLE).client(userText('Hello'), CREATE).server(CALL)
    machine.client(result('call_up', 'ok'), CREATE).close(1006)
    expect(machine.moving).toBe(true)
    expect(machine.of('response-end')[1]).toMatchObject({ status: 'failed', error: { code: 'connection_lost' } })
    expect(machine.of('error')).toMatchObject([{ error: { code: 'connection_lost' } }])
    expect(machine.open().frames).toMatchObject([{ setup: { sessionResumption: { handle: 'h1' } } }])
    machine.server(SETUP_COMPLETE).client(userText('Again'), CREATE).server(spoken(2), TURN_COMPLETE)
    expect(machine.of('response-end')[2]).toMatchObject({ status: 'completed' })
    expect(fault(machine.events)).toBeUndefined()
  })

  it('a response that has not begun is asked for again, after the conversation since the handle', () => {
    const machine = ready()
      .client(userText('One'), CREATE)
      .server(resumable('h1'), outputTranscript('1.'), TURN_COMPLETE)
    machine.client(userText('Two'), CREATE).server(outputTranscript('2.'), TURN_COMPLETE)
    machine.client(userText('Three'), CREATE).close(1006)
    expect(machine.of('response-end')).toHaveLength(2)
    machine.open().server(SETUP_COMPLETE)
    expect(sentBy(machine)).toEqual([
      {
        clientContent: {
          turns: [
            { role: 'model', parts: [{ text: '1.' }] },
            { role: 'user', parts: [{ text: 'Two' }] },
            { role: 'model', parts: [{ text: '2.' }] },
          ],
          turnComplete: false,
        },
      },
      { clientContent: TURN('Three') },
    ])
    machine.server(outputTranscript('3.'), TURN_COMPLETE)
    expect(machine.of('response-end').map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(machine.of('error')).toEqual([])
  })

  it('what was not sent yet when a connection broke is sent once, by the next', () => {
    const machine = ready()
      .server(resumable('h1'))
      .client(userText('One'), CREATE)
      .server(TURN_COMPLETE, resumable('h2'))
    machine.close(1006).open().client(userText('Two'), CREATE).close(1006).open().server(SETUP_COMPLETE)
    expect(sentBy(machine)).toEqual([{ clientContent: TURN('Two') }])
    expect(machine.of('response-end')).toHaveLength(1)
  })

  it('while nothing runs, the caller does not notice', () => {
    const machine = ready().client(userText('Hello'), CREATE).server(spoken(2), TURN_COMPLETE, resumable('h1'))
    const count = machine.events.length
    machine.close(1006).open()
    expect(machine.events).toHaveLength(count)
  })

  it('connections that end one after the other end the session', () => {
    const machine = ready().server(resumable('h1'))
    for (let count = 0; count < 3; count++) machine.close(1011).open()
    expect(machine.close(1011, 'Internal error.').end).toMatchObject({ code: 1011, reason: 'Internal error.' })
  })

  it.each([
    [1007, 'API key not valid. Please pass a valid API key.', 'upstream-account'],
    [1008, 'models/x is not found for API version v1beta', 'not-found'],
    [1011, 'You exceeded your current quota', 'rate-limited'],
    [1006, '', 'upstream-failed'],
  ])('without a handle, %i ends the session with its reason', (code, text, kind) => {
    const machine = new Machine().client(userText('Hello')).close(code, text)
    expect(machine.moving).toBe(false)
    expect(machine.end).toMatchObject({ code: code === 1006 ? 1011 : code, error: { error: { kind } } })
  })

  it('one that was not used yet is opened again without a handle', () => {
    expect(new Machine().close(1006).moving).toBe(true)
    expect(ready().server(GO_AWAY).moving).toBe(true)
    expect(new Machine().client(update({})).close(1006).moving).toBe(false)
  })

  it('without resumption in the dialect, none is asked for', () => {
    expect(ready({ dialect: { resumption: false } }).frames[0]!['setup']).not.toHaveProperty('sessionResumption')
  })
})

describe('items', () => {
  it('turns go in the order of the conversation; deleted ones do not go at all', () => {
    const machine = ready().client(
      { type: 'item-create', item: { id: 'a', role: 'user', content: [{ type: 'text', text: 'One' }] } },
      { type: 'item-create', item: { id: 'b', role: 'assistant', content: [{ type: 'text', text: 'Two' }] } },
      { type: 'item-create', item: { id: 'c', role: 'user', content: [{ type: 'text', text: 'Three' }] } },
      { type: 'item-delete', item: 'a' },
      { type: 'item-retrieve', item: 'b' },
      { type: 'item-truncate', item: 'b', part: 0, audioEndMs: 5 },
      { type: 'item-truncate', item: 'none', part: 0, audioEndMs: 5, id: 'e' },
      CREATE,
    )
    expect(sentBy(machine)).toEqual([
      {
        clientContent: {
          turns: [
            { role: 'model', parts: [{ text: 'Two' }] },
            { role: 'user', parts: [{ text: 'Three' }] },
          ],
          turnComplete: true,
        },
      },
    ])
    expect(machine.types.slice(-5)).toEqual([
      ...['item-deleted', 'item-retrieved', 'item-truncated', 'error', 'response-start'],
    ])
  })

  it('pictures and audio go inside turns, and are not kept', () => {
    const machine = ready({ model: 'gemini-3.1-flash-live-preview' }).client(
      {
        type: 'item-create',
        item: {
          id: 'a',
          role: 'user',
          content: [
            { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } },
            {
              type: 'media',
              kind: 'audio',
              source: { type: 'base64', mediaType: 'audio/pcm;rate=16000', data: 'BBBB' },
            },
          ],
        },
      },
      CREATE,
      { type: 'item-retrieve', item: 'a' },
    )
    const { turns } = sentBy(machine)[0]!['clientContent'] as { readonly turns: readonly [{ readonly parts: unknown }] }
    expect(turns[0].parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/pcm;rate=16000', data: 'BBBB' } },
    ])
    expect(JSON.stringify(machine.of('item-retrieved'))).not.toMatch(/AAAA|BBBB/)
  })

  it('texts of the upstream are kept within bounds', () => {
    const machine = ready({ settings: HEARD })
    const long = 'x'.repeat(100_000)
    for (let turn = 0; turn < 200; turn++) {
      machine.client(audio(2)).server(inputTranscript(long), outputTranscript(long), TURN_COMPLETE)
      machine.events.length = 0
    }
    const size = (): number => {
      machine.events.length = 0
      for (let id = 1; id < 700; id++) machine.client({ type: 'item-retrieve', item: `item_${id}` })
      return JSON.stringify(machine.of('item-retrieved')).length
    }
    expect(size()).toBeGreaterThan(8e6)
    expect(size()).toBeLessThan(9e6)
  })

  it.each([
    ['texts', { type: 'text', text: 'x'.repeat(2 ** 20) }],
    ['calls', { type: 'tool-call', id: 'call', name: 'find', arguments: `"${'x'.repeat(2 ** 20)}"` }],
    [
      'pictures',
      {
        type: 'media',
        kind: 'image',
        source: { type: 'base64', mediaType: 'image/png', data: 'A'.repeat(2 ** 20) },
      },
    ],
  ] as const)('deleted ones count no more: %s', (_, part) => {
    const machine = ready()
    const role = part.type === 'tool-call' ? 'assistant' : 'user'
    for (let count = 0; count < 20; count++)
      machine.client(
        { type: 'item-create', item: { id: 'a', role, content: [part] } },
        { type: 'item-delete', item: 'a' },
      )
    expect(machine.end).toBeUndefined()
    machine.client(result('call', 'Found.'))
    expect(machine.of('error')).toMatchObject([{ error: { code: 'invalid_tool_call_id' } }])
  })

  it('more than eight megabytes of them are refused', () => {
    const machine = ready()
    for (let count = 0; count < 9; count++) machine.client(userText('x'.repeat(2 ** 20)), CREATE)
    expect(machine.of('error').map(({ error }) => error.code)).toContain('conversation_too_large')
    expect(machine.end).toBeUndefined()
  })
})

describe('losses', () => {
  const reasons = (event: ClientEvent, options?: MachineOptions): string[] =>
    new Machine(options).protocol.losses(event).map(({ path, reason: why }) => `${path.join('.')} ${why}`)

  it('settings the format has no place for', () => {
    const settings: VoiceSessionSettings = {
      parallelToolCalls: false,
      toolChoice: { mode: 'required' },
      reasoning: { effort: 'low' },
      modalities: ['text'],
      tools: [{ type: 'opaque', format: 'realtime', value: { type: 'mcp' } }],
      extras: { realtime: { tracing: 'auto' } },
      input: {
        noiseReduction: 'near_field',
        transcription: { model: 'whisper-1', prompt: 'Names' },
        turnDetection: { type: 'silence', threshold: 0.9, prefixMs: 300, idleMs: 5000, respond: false },
      },
      output: { speed: 1.5, voice: 'alloy' },
    }
    expect(reasons(update(settings), { dialect: { voices: { alloy: 'Kore' } } }).sort()).toEqual(
      [
        'settings.extras.realtime.tracing only-in-realtime',
        'settings.input.noiseReduction no-noise-reduction',
        'settings.input.transcription.prompt no-transcription-prompt',
        'settings.input.turnDetection.idleMs no-idle-timeout',
        'settings.input.turnDetection.prefixMs no-prefix',
        'settings.input.turnDetection.respond always-responds',
        'settings.input.turnDetection.threshold two-sensitivities',
        'settings.output.speed no-speed',
        'settings.output.voice voice-of-the-upstream',
        'settings.parallelToolCalls no-parallel-control',
        'settings.reasoning no-reasoning',
        'settings.toolChoice no-tool-choice',
        'settings.tools.0 only-in-realtime',
      ].sort(),
    )
    expect(reasons(update({ modalities: ['text'], reasoning: { effort: 'low' } }), { model: 'gemini-3-live' })).toEqual(
      ['settings.modalities transcript-as-text'],
    )
  })

  it('what is usual loses nothing', () => {
    expect(
      reasons(
        update({
          instructions: 'Be short.',
          modalities: ['audio'],
          toolChoice: { mode: 'auto' },
          parallelToolCalls: true,
          input: { transcription: { model: 'whisper-1' }, turnDetection: { type: 'silence', threshold: 0.5 } },
          output: { voice: 'Puck' },
        }),
      ),
    ).toEqual([])
    for (const event of [userText('Hello'), CREATE, CANCEL, COMMIT, audio()]) expect(reasons(event)).toEqual([])
  })

  it('what cannot be taken back', () => {
    const machine = ready().client(userText('Hello'), CREATE, audio())
    const losses = (event: ClientEvent) => machine.protocol.losses(event).map(({ reason: why }) => why)
    expect(losses({ type: 'audio-clear' })).toEqual(['audio-is-sent-at-once'])
    expect(losses({ type: 'item-delete', item: 'item_1' })).toEqual(['no-deletion'])
    expect(losses({ type: 'item-truncate', item: 'item_1', part: 0, audioEndMs: 1 })).toEqual(['no-truncation'])
    expect(losses({ ...userText('First'), after: null } as ClientEvent)).toEqual(['appended-only'])
  })
})

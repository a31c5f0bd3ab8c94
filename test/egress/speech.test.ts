import { describe, expect, it } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { essentialLosses } from '../../src/egress/losses.ts'
import { PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

const asks = (audio: CanonicalRequest['output']['audio'], more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  model: 'eleven_v3',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }],
  output: { modalities: ['audio'], ...(audio === undefined ? {} : { audio }) },
  sampling: {},
  stream: false,
  ...more,
})

const dialectOf = (preset: string, format: string) =>
  PRESETS.get(preset)!.formats.find(one => one.format === format)!.dialect ?? {}

const written = (request: CanonicalRequest, format: string, preset: string) =>
  WRITERS[format]!.request!(request, { dialect: dialectOf(preset, format), native: false })

describe('ElevenLabs is asked', () => {
  const asked = (request: CanonicalRequest) => written(request, 'elevenlabs', 'elevenlabs')
  const ID = 'abcdefghij0123456789'

  it('by the id of the voice, with its own words for the container', () => {
    const { wire, losses } = asked(asks({ voice: ID, mediaType: 'audio/opus', speed: 1.1 }))
    expect(wire).toMatchObject({
      path: `/v1/text-to-speech/${ID}`,
      query: { output_format: 'opus_48000_128' },
      body: { text: 'Hello.', model_id: 'eleven_v3', voice_settings: { speed: 1.1 } },
    })
    expect(losses).toEqual([])
  })

  it('for a stream at its own path', () => {
    expect(asked(asks({ voice: ID }, { stream: true })).wire.path).toBe(`/v1/text-to-speech/${ID}/stream`)
  })

  it.each(['', '.', '..', 'a/../b', '..\\b', '%2e%2e', 'a\n'])(
    'for no voice whose name would make another path: "%s"',
    voice => {
      const write = () => WRITERS['elevenlabs']!.request!(asks({ voice }), { dialect: {}, native: false })
      expect(write).toThrow('voice: is not a valid voice name.')
    },
  )

  it('by what a name stands for, by its usual voice where none is asked for, never by an unknown one', () => {
    for (const voice of ['George', 'george']) expect(asked(asks({ voice })).wire.path).toContain('JBFqnCBsd6RMkjVDRZzb')
    expect(asked(asks({ voice: 'alloy' })).losses).toMatchObject([{ kind: 'changed', reason: 'voice-of-the-upstream' }])
    expect(asked(asks(undefined)).losses).toMatchObject([{ kind: 'added', reason: 'minted-voice' }])
    expect(() => asked(asks({ voice: 'a/../b' }))).toThrow('George')
  })

  it('at the nearest speed it has', () => {
    const { wire, losses } = asked(asks({ voice: ID, speed: 4 }))
    expect(wire.body).toMatchObject({ voice_settings: { speed: 1.2 } })
    expect(losses).toMatchObject([{ path: ['output', 'audio', 'speed'], became: 1.2 }])
  })

  it.each(['audio/flac', 'audio/aac', 'audio/x'])('not at all for %s, which it does not make', mediaType => {
    const request = asks({ voice: ID, mediaType })
    expect(essentialLosses(asked(request).losses, request)).toHaveLength(1)
  })

  it.each([
    [401, { detail: { status: 'quota_exceeded', message: 'no more' } }, 'out-of-credit', 'no more'],
    [401, { detail: { status: 'invalid_api_key', message: 'who?' } }, 'unauthenticated', 'who?'],
    [400, { detail: { status: 'voice_not_found', message: 'no such voice' } }, 'invalid-request', 'no such voice'],
    [422, { detail: [{ loc: ['body', 'text'], msg: 'missing', type: 'x' }] }, 'invalid-request', 'text: missing'],
    [429, { detail: { status: 'too_many_concurrent_requests', message: 'wait' } }, 'rate-limited', 'wait'],
    [500, { detail: 'oops' }, 'upstream-failed', 'oops'],
    [503, {}, 'overloaded', '503'],
  ])('and complains with %i', (status, body, kind, message) => {
    const error = READERS['elevenlabs']!.error!({ status, headers: {}, body: body as never })
    expect(error.kind).toBe(kind)
    expect(error.message).toContain(message)
  })
})

describe('Google is asked', () => {
  const asked = (request: CanonicalRequest) => written(request, 'contents', 'google')

  it('for a voice of its own, by any name there is for it', () => {
    const voice = (name: string) =>
      (asked(asks({ voice: name })).wire.body['generationConfig'] as never)['speechConfig']
    for (const name of ['Kore', 'kore', 'alloy'])
      expect(voice(name)).toEqual({ voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } })
    expect(() => voice('nobody')).toThrow('Zephyr')
  })

  /* "Request contains an invalid argument" without a voice (genkit-ai/genkit#5489, June 2026). */
  it('for a voice even if the caller names none', () => {
    const { wire } = asked(asks({ mediaType: 'audio/mpeg' }))
    const voice = { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } }
    expect(wire.body['generationConfig']).toMatchObject({ speechConfig: voice })
  })

  it('with the instructions in front of the text', () => {
    const how = { role: 'system', content: [{ type: 'text', text: 'Say cheerfully.' }] } as const
    const { wire } = asked(asks({ voice: 'Kore' }, { messages: [how, ...asks(undefined).messages] }))
    expect(wire.body['contents']).toEqual([{ role: 'user', parts: [{ text: 'Say cheerfully: ' }, { text: 'Hello.' }] }])
    expect(wire.body).not.toHaveProperty('systemInstruction')
  })

  it('for samples, of which an MP3 or a WAV file can be made and no other', () => {
    for (const mediaType of ['audio/wav', 'audio/pcm', 'audio/mpeg']) {
      const request = asks({ voice: 'Kore', mediaType })
      expect(essentialLosses(asked(request).losses, request)).toEqual([])
    }
    for (const mediaType of ['audio/opus', 'audio/flac', 'audio/aac']) {
      const request = asks({ voice: 'Kore', mediaType })
      expect(essentialLosses(asked(request).losses, request)).toMatchObject([{ reason: 'mp3-wav-or-pcm-only' }])
    }
  })

  it('for no voice where nothing is to be heard', () => {
    const talk = { ...asks(undefined), output: {} }
    const { wire } = WRITERS['contents']!.request!(talk, { dialect: { default_voice: 'Kore' }, native: false })
    expect(wire.body).not.toHaveProperty('generationConfig')
  })
})

describe('OpenAI’s format is asked', () => {
  const asked = (request: CanonicalRequest, dialect = {}, native = false) =>
    WRITERS['speech']!.request!(request, { dialect, native })

  it('for events only where there are some', () => {
    const request = asks({ voice: 'alloy' }, { stream: true })
    expect(asked(request).wire.body).toHaveProperty('stream_format', 'sse')
    expect(asked(request, { speech_events: false }, true).wire.body).not.toHaveProperty('stream_format')
    expect(asked({ ...request, model: 'tts-1-hd' }).wire.body).not.toHaveProperty('stream_format')
  })

  it('for any voice, unless the operator says which there are', () => {
    const request = asks({ voice: 'af_bella' })
    expect(asked(request, {}, true).wire.body['voice']).toBe('af_bella')
    const dialect = { voices: { alloy: 'af_bella' } }
    expect(asked(asks({ voice: 'alloy' }), dialect, true).wire.body['voice']).toBe('af_bella')
    expect(asked(request, dialect, true).losses).toEqual([])
    expect(() => asked(asks({ voice: 'onyx' }), dialect, true)).toThrow('it has alloy')
  })

  it('tells tokens in events as they were told', () => {
    const usage = { input: 3, output: 40, extras: { speech: { x_details: { audio: 40 } } } }
    const events = WRITERS['speech']!.events!(asks(undefined))
    const source = { type: 'base64', mediaType: 'audio/mpeg', data: '' } as const
    const said = [
      { type: 'result-start' },
      { type: 'part-start', at: { candidate: 0, part: 0 }, part: { type: 'media', kind: 'audio', source } },
      { type: 'part-end', at: { candidate: 0, part: 0 } },
      { type: 'usage', usage },
      { type: 'result-end' },
    ] as const
    const last = said.flatMap(event => events.push(event)).at(-1)!
    expect(JSON.parse(last.data).usage).toEqual({
      ...{ input_tokens: 3, output_tokens: 40, total_tokens: 43, x_details: { audio: 40 } },
    })
    const reader = READERS['speech']!.events!(asks(undefined))
    const read = [...reader.push(last)].find(event => event.type === 'usage')
    expect(read?.usage).toMatchObject(usage)
  })
})

describe('an answer without a recording', () => {
  const asked = asks({ voice: 'alloy' })
  it('is no answer', () => {
    const write = (reason: 'stop' | 'refused') => () =>
      WRITERS['speech']!.result!(
        { candidates: [{ content: [{ type: 'text', text: 'No.' }], finish: { reason } }] },
        asked,
      )
    expect(write('stop')).toThrow('without audio')
    expect(write('refused')).toThrow('refused')
  })

  it('is an error at the end of a stream', () => {
    const events = WRITERS['speech']!.events!(asked)
    const last = ([{ type: 'result-start' }, { type: 'result-end' }] as const)
      .flatMap(event => events.push(event))
      .at(-1)!
    expect(JSON.parse(last.data)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } })
    expect(events.end()).toEqual([])
  })
})

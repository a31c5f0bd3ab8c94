import { afterEach, describe, expect, it } from 'vitest'
import type { ToolCallPart } from '../../../src/canonical/content.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { ConversationItem, VoiceSessionSettings } from '../../../src/canonical/voice-session.ts'
import { TIMED } from '../../builders/time.ts'
import { faultsIn } from './grammar.ts'
import { calls, inTurn, pause, Rig, type Scripts, says, speaks, textsOf } from './rig.ts'
import { quiet, turn, voice } from './voice.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) {
    expect(faultsIn(rig.events)).toEqual([])
    rig.upstream.close(1000, '')
    await pause(0)
    expect(rig.open).toBe(0)
  }
})

async function open(scripts: Scripts = {}, settings: VoiceSessionSettings = {}): Promise<Rig> {
  const rig = await Rig.open(scripts, settings)
  rigs.push(rig)
  return rig
}

const user = (text: string): ConversationItem => ({ role: 'user', content: [{ type: 'text', text }] })
const audioOf = (rig: Rig): number => rig.all('audio-delta').reduce((sum, { audio }) => sum + audio.length, 0) / 48
const textOf = (rig: Rig): string =>
  rig
    .all('transcript-delta')
    .map(({ text }) => text)
    .join('')
const fails = (kind: 'upstream-failed' | 'rate-limited') => () => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new GatewayError({ kind, message: 'Out of order.' })) }),
})

describe('a spoken turn', TIMED, () => {
  it('is transcribed, answered and spoken', async () => {
    const rig = await open(
      { transcription: says('What is the weather?'), conversation: says('It is sunny today. Take a hat with you.') },
      { instructions: 'Be brief.', input: { transcription: { language: 'en', prompt: 'Paris' } } },
    )
    rig.send({ type: 'audio-append', audio: turn() })
    const end = await rig.until('response-end')
    expect(rig.types.slice(0, 7)).toEqual([
      ...['session-created', 'speech-started', 'speech-stopped', 'audio-committed', 'item-added', 'item-done'],
      'response-start',
    ])
    const item = rig.all('speech-started')[0]!.item
    expect(rig.all('audio-committed')[0]).toMatchObject({ item, after: null })
    expect(rig.all('input-transcript-delta').map(({ text }) => text)).toEqual(['What ', 'is ', 'the ', 'weather?'])
    expect(rig.all('input-transcript-done')).toMatchObject([
      { item, part: 0, text: 'What is the weather?', usage: { input: 10, output: 5 } },
    ])
    expect(textOf(rig)).toBe('It is sunny today. Take a hat with you.')
    expect(audioOf(rig)).toBeGreaterThan(300)
    expect(end).toMatchObject({ status: 'completed', usage: { input: 10, output: 5 } })

    const [ears, chat] = [rig.of('ears')[0]!.request, rig.of('chat')[0]!.request]
    expect(ears).toMatchObject({ stream: true, output: { transcript: { task: 'transcribe', language: 'en' } } })
    expect(textsOf(ears)).toEqual(['system: Paris', 'user: media'])
    expect(textsOf(chat)).toEqual(['system: Be brief.', 'user: What is the weather?'])
    expect(rig.of('mouth').map(({ request }) => textsOf(request)[0])).toEqual([
      'user: It is sunny today.',
      'user: Take a hat with you.',
    ])
    expect(rig.of('mouth')[0]!.request.output).toEqual({
      modalities: ['audio'],
      audio: { voice: 'nova', mediaType: 'audio/pcm' },
    })
  })

  it('is sent to be transcribed as a WAV file of itself', async () => {
    const rig = await open({}, { input: { turnDetection: null } })
    const audio = voice(0.5)
    rig.send({ type: 'audio-append', audio })
    rig.send({ type: 'audio-commit' })
    await pause(5)
    const part = rig.of('ears')[0]!.request.messages.at(-1)!.content[0]!
    if (part.type !== 'media' || part.source.type !== 'bytes') throw new Error('No bytes.')
    const [wav] = await Array.fromAsync(part.source.bytes.read())
    expect(Buffer.from(wav!).toString('latin1', 0, 4)).toBe('RIFF')
    expect(Buffer.from(wav!).readUInt32LE(24)).toBe(16_000)
    expect(Buffer.compare(wav!.subarray(44), audio)).toBe(0)
  })

  it('is part of the next one', async () => {
    const rig = await open({
      transcription: inTurn(says('My name is Ada.'), says('What is my name?')),
      conversation: inTurn(says('Nice to meet you.'), says('Ada.')),
    })
    rig.send({ type: 'audio-append', audio: turn() })
    await rig.until('response-end')
    const from = rig.events.length
    rig.send({ type: 'audio-append', audio: turn() })
    await rig.until('response-end', from)
    expect(textsOf(rig.of('chat')[1]!.request)).toEqual([
      'user: My name is Ada.',
      'assistant: Nice to meet you.',
      'user: What is my name?',
    ])
  })

  it('gets no response where the client does not want one, and none in a transcription session', async () => {
    for (const settings of [
      { input: { turnDetection: { type: 'silence', respond: false } } },
      { purpose: 'transcription', input: { transcription: {} } },
    ] as const) {
      const rig = await open({}, settings)
      rig.send({ type: 'audio-append', audio: turn() })
      await pause(20)
      expect(rig.of('ears').length).toBe(1)
      expect(rig.of('chat').length).toBe(0)
    }
  })

  it('counts its transcript with the response where no event reports it', async () => {
    const rig = await open({ speech: speaks({ usage: { input: 3, output: 40 } }) })
    rig.send({ type: 'audio-append', audio: turn() })
    expect((await rig.until('response-end')).usage).toEqual({ input: 10 + 10 + 3, output: 5 + 5 + 40 })
    expect(rig.all('input-transcript-delta')).toEqual([])
  })

  it('without words is not answered', async () => {
    const rig = await open({ transcription: says(' ') })
    rig.send({ type: 'audio-append', audio: turn() })
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
    expect(rig.of('chat')).toEqual([])
    expect(rig.types).not.toContain('output-start')
  })

  it('may end while a response is running that it does not interrupt: the next one follows', async () => {
    const rig = await open(
      { transcription: inTurn(says('One.'), says('Two.')), speech: speaks({ pace: 5 }) },
      { input: { turnDetection: { type: 'silence', interrupt: false } } },
    )
    rig.send({ type: 'audio-append', audio: turn() })
    await rig.until('audio-delta')
    rig.send({ type: 'audio-append', audio: turn() })
    await rig.until('response-end')
    await rig.until('response-end', rig.types.indexOf('response-end') + 1)
    expect(rig.all('response-end').map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(textsOf(rig.of('chat')[1]!.request)).toContain('user: Two.')
  })
})

describe('turns by hand', TIMED, () => {
  it('are committed, and answered when the client says so', async () => {
    const rig = await open({ transcription: says('Hi.') }, { input: { turnDetection: null } })
    rig.send({ type: 'audio-append', audio: voice(1) })
    rig.send({ type: 'audio-commit' })
    await pause(10)
    expect(rig.types).not.toContain('response-start')
    rig.send({ type: 'response-create' })
    await rig.until('response-end')
    expect(textsOf(rig.of('chat')[0]!.request)).toEqual(['user: Hi.'])
  })

  it('wait for the transcript', async () => {
    const rig = await open({ transcription: says('Slow words.', { pace: 20 }) }, { input: { turnDetection: null } })
    rig.send({ type: 'audio-append', audio: voice(1) })
    rig.send({ type: 'audio-commit' })
    rig.send({ type: 'response-create' })
    await rig.until('response-end')
    expect(textsOf(rig.of('chat')[0]!.request)).toEqual(['user: Slow words.'])
  })

  it('of nothing are an error', async () => {
    const rig = await open()
    rig.send({ type: 'audio-commit', id: 'mine' })
    expect(rig.all('error')).toMatchObject([{ error: { code: 'input_audio_buffer_commit_empty' }, event: 'mine' }])
  })
})

describe('audio inside an item', () => {
  const item: ConversationItem = {
    role: 'user',
    content: [
      { type: 'text', text: 'Listen:' },
      {
        type: 'media',
        kind: 'audio',
        source: { type: 'base64', mediaType: 'audio/pcm;rate=16000', data: Buffer.from(voice(0.5)).toString('base64') },
      },
    ],
  }

  it('is transcribed, and not kept', async () => {
    const rig = await open({ transcription: says('Hello there.') }, { input: { transcription: {} } })
    rig.send({ type: 'item-create', item })
    rig.send({ type: 'response-create' })
    await rig.until('response-end')
    expect(textsOf(rig.of('chat')[0]!.request)).toEqual(['user: Listen:', 'user: Hello there.'])
    expect(rig.all('input-transcript-done')).toMatchObject([{ part: 1, text: 'Hello there.' }])
    rig.send({ type: 'item-retrieve', item: rig.all('item-added')[0]!.item.id! })
    expect(rig.all('item-retrieved')[0]!.item.content[1]).toMatchObject({
      source: { data: '' },
      transcript: 'Hello there.',
    })
  })

  it('of an item that is deleted neither holds up a response nor is the transcript of the next one of its id', async () => {
    const slow = says('Old words.', { pace: 20 })
    const rig = await open({ transcription: inTurn(slow, says('New words.', { pace: 60 })) })
    const spoken: ConversationItem = { id: 'a', role: 'user', content: item.content.slice(1) }
    rig.send({ type: 'item-create', item: spoken })
    rig.send({ type: 'response-create' })
    rig.send({ type: 'item-delete', item: 'a' })
    rig.send({ type: 'item-create', item: spoken })
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
    rig.send({ type: 'response-create' })
    await rig.until('response-end', rig.events.length)
    expect(textsOf(rig.of('chat').at(-1)!.request)).toContain('user: New words.')
    expect(JSON.stringify(rig.of('chat').map(({ request }) => textsOf(request)))).not.toContain('Old words.')
  })
})

describe('calls', () => {
  it('have different ids although the model numbers those of each answer from zero', async () => {
    const call = (city: string) => ({ id: 'call_0', name: 'weather', arguments: `{"in":"${city}"}` })
    const rig = await open(
      { conversation: inTurn(calls(call('Paris')), calls(call('Rome')), says('Warm.')) },
      { tools: [{ type: 'function', name: 'weather' }] },
    )
    for (const words of ['Is it warm in Paris?', 'And in Rome?']) {
      const from = rig.events.length
      rig.say(words)
      await rig.until('response-end', from)
    }
    const ids = rig.all('output-start').map(({ item: { content } }) => (content[0] as ToolCallPart).id)
    expect(ids).toEqual(['call_0', expect.stringMatching(/^call_(?!0$)/)])
    // The first call takes longer: its result must not become that of the second call.
    const content = (id: string, text: string) => [
      { type: 'tool-result' as const, id, content: [{ type: 'text' as const, text }] },
    ]
    rig.send({ type: 'item-create', item: { role: 'tool', content: content(ids[0]!, '20') } })
    rig.send({ type: 'item-create', item: { role: 'tool', content: content(ids[1]!, '30') } })
    const from = rig.events.length
    rig.send({ type: 'response-create' })
    await rig.until('response-end', from)
    const parts = rig.of('chat')[2]!.request.messages.flatMap(message => message.content)
    const results = parts.flatMap(part => (part.type === 'tool-result' ? [[part.id, part.content]] : []))
    expect(results).toEqual([
      [ids[1], [{ type: 'text', text: '30' }]],
      [ids[0], [{ type: 'text', text: '20' }]],
    ])
  })

  it('go over several rounds', async () => {
    const rig = await open(
      {
        conversation: inTurn(
          calls({ id: 'c1', name: 'city', arguments: '{"of":"me"}' }, { id: 'c2', name: 'unit', arguments: '{}' }),
          calls({ id: 'c3', name: 'weather', arguments: '{"in":"Paris"}' }),
          says('It is 20 degrees in Paris.'),
        ),
      },
      {
        tools: [{ type: 'function', name: 'city' }],
        toolChoice: { mode: 'auto' },
        parallelToolCalls: true,
        maxTokens: 100,
        temperature: 0.7,
      },
    )
    const answer = (id: string, text: string): void =>
      rig.send({
        type: 'item-create',
        item: { role: 'tool', content: [{ type: 'tool-result', id, content: [{ type: 'text', text }] }] },
      })
    rig.say('How warm is it?')
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
    expect(rig.all('output-start').map(({ item }) => item.content[0])).toMatchObject([
      { type: 'tool-call', id: 'c1', name: 'city', arguments: '' },
      { type: 'tool-call', id: 'c2', name: 'unit', arguments: '' },
    ])
    expect(rig.all('arguments-delta').map(({ text }) => text)).toEqual(['{"of', '":"me"}', '{}'])
    answer('c1', 'Paris')
    answer('c2', 'C')
    let from = rig.events.length
    rig.send({ type: 'response-create' })
    await rig.until('response-end', from)
    answer('c3', '20')
    from = rig.events.length
    rig.send({ type: 'response-create' })
    await rig.until('response-end', from)
    expect(textOf(rig)).toBe('It is 20 degrees in Paris.')
    const { messages, ...rest } = rig.of('chat')[2]!.request
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ['user', 1],
      ['assistant', 2],
      ['tool', 1],
      ['tool', 1],
      ['assistant', 1],
      ['tool', 1],
    ])
    expect(rest).toMatchObject({ parallelToolCalls: true, sampling: { maxTokens: 100, temperature: 0.7 } })
  })
})

describe('responses', () => {
  it('that go on behind a call speak one message after the other', async () => {
    const texts = ['First I look at the weather in Paris.', 'Meanwhile, here is a story about Paris.']
    const rig = await open({
      speech: speaks({ pace: 1 }),
      conversation: async function* () {
        yield { type: 'result-start' }
        const parts = [texts[0]!, undefined, texts[1]!]
        for (const [part, text] of parts.entries()) {
          const at = { candidate: 0, part }
          const call = { type: 'tool-call', id: 'c', name: 'f', arguments: '' } as const
          yield { type: 'part-start', at, part: text === undefined ? call : { type: 'text', text: '' } }
          yield { type: 'part-delta', at, append: text ?? '{}' }
          yield { type: 'part-end', at }
        }
        yield { type: 'candidate-end', candidate: 0, finish: { reason: 'tool-calls' } }
        yield { type: 'result-end' }
      },
    })
    rig.send({ type: 'item-create', item: user('Hi.') })
    rig.send({ type: 'response-create' })
    expect(await rig.until('response-end')).toMatchObject({ status: 'completed' })
    const spoken = rig.all('audio-delta').map(({ at }) => at.output)
    expect(new Set(spoken)).toEqual(new Set([0, 2]))
    expect(spoken).toEqual([...spoken].sort())
    expect(rig.all('output-end').map(({ output }) => output)).toEqual([1, 0, 2])
  })

  it('of text alone are not spoken', async () => {
    const rig = await open({ conversation: says('One. Two. Three.') })
    rig.send({ type: 'item-create', item: user('Count.') })
    rig.send({ type: 'response-create', settings: { modalities: ['text'] } })
    await rig.until('response-end')
    expect(
      rig
        .all('text-delta')
        .map(({ text }) => text)
        .join(''),
    ).toBe('One. Two. Three.')
    expect(rig.all('part-start')).toMatchObject([{ kind: 'text' }])
    expect(rig.of('mouth')).toEqual([])
  })

  it('outside of the conversation leave no trace in it, and have a context of their own', async () => {
    const rig = await open({ conversation: inTurn(says('Aside.'), says('Main.')) })
    rig.send({ type: 'item-create', item: user('Hello.') })
    rig.send({
      type: 'response-create',
      settings: { detached: true, modalities: ['text'], context: [user('Classify.')], metadata: { topic: 'x' } },
    })
    expect(await rig.until('response-start')).toMatchObject({ metadata: { topic: 'x' } })
    await rig.until('response-end')
    const from = rig.events.length
    rig.send({ type: 'response-create' })
    await rig.until('response-end', from)
    expect(textsOf(rig.of('chat')[0]!.request)).toEqual(['user: Classify.'])
    expect(textsOf(rig.of('chat')[1]!.request)).toEqual(['user: Hello.'])
  })

  it('come one at a time', async () => {
    const rig = await open({ conversation: says('Slow.', { pace: 10 }) })
    rig.say('One.')
    rig.send({ type: 'response-create', id: 'second' })
    expect(rig.all('error')).toMatchObject([
      { error: { code: 'conversation_already_has_active_response' }, event: 'second' },
    ])
    await rig.until('response-end')
  })

  it('end as their model does', async () => {
    for (const [reason, end] of [
      ['length', { status: 'incomplete', reason: 'max_output_tokens' }],
      ['refused', { status: 'incomplete', reason: 'content_filter' }],
    ] as const) {
      const rig = await open({ conversation: says('And so', { reason }) })
      rig.say('Go on.')
      expect(await rig.until('response-end')).toMatchObject(end)
      expect(rig.all('output-end')).toMatchObject([{ status: 'incomplete' }])
    }
  })

  it('fail where any of their requests does, and the session goes on', async () => {
    for (const work of ['transcription', 'conversation', 'speech'] as const) {
      const rig = await open(
        { [work]: inTurn(fails('rate-limited'), work === 'speech' ? speaks() : says('Well.')) },
        { input: { transcription: {} } },
      )
      rig.send({ type: 'audio-append', audio: turn() })
      expect(await rig.until('response-end'), work).toMatchObject({ status: 'failed', error: { kind: 'rate-limited' } })
      expect(rig.all('input-transcript-failed').length).toBe(work === 'transcription' ? 1 : 0)
      const from = rig.events.length
      rig.send({ type: 'audio-append', audio: turn() })
      expect(await rig.until('response-end', from), work).toMatchObject({ status: 'completed' })
    }
  })

  it('fail for a sentence that cannot be spoken only after the sentence before, of which every sample is heard', async () => {
    const rig = await open({
      conversation: says('This is the first sentence. This is the second sentence. And a third.'),
      speech: inTurn(speaks({ pace: 2 }), fails('upstream-failed')),
    })
    rig.say('Go.')
    expect(await rig.until('response-end')).toMatchObject({ status: 'failed', error: { kind: 'upstream-failed' } })
    expect(audioOf(rig)).toBe(10 * 'This is the first sentence.'.length)
    expect(rig.of('mouth')).toHaveLength(2)
  })

  it('fail where speech is no samples', async () => {
    const rig = await open({ speech: speaks({ mediaType: 'audio/mpeg' }) })
    rig.say('Hi.')
    expect(await rig.until('response-end')).toMatchObject({ status: 'failed', error: { kind: 'upstream-failed' } })
  })

  it('are at 24 kHz whatever the speech is', async () => {
    const lengths: number[] = []
    for (const mediaType of ['audio/pcm', 'audio/L16;rate=48000']) {
      const rig = await open({ speech: speaks({ mediaType }) })
      rig.say('Hi.')
      await rig.until('response-end')
      lengths.push(audioOf(rig))
    }
    expect(lengths[1]! / lengths[0]!).toBeCloseTo(0.5, 2)
  })

  it('speak no signs of Markdown, no emoji', async () => {
    const rig = await open({
      conversation: says('# Plan\n**Bold** words, `code` and [links](https://x.y). 🎉\n2 * 3 = 6, snake_case.'),
    })
    rig.say('Go.')
    await rig.until('response-end')
    const words = rig.of('mouth').map(({ request }) => textsOf(request)[0])
    expect(words.map(one => one?.trim())).toEqual([
      'user: Plan\nBold words, code and links.',
      'user: 2 * 3 = 6, snake_case.',
    ])
    expect(textOf(rig)).toContain('**Bold**')
  })
})

describe('speech', () => {
  it('begins while the text still comes, and is at most one sentence ahead', async () => {
    const rig = await open({
      conversation: says(
        'The first sentence is here. The second sentence is here. The third sentence is here. And a last one.',
        { pace: 2 },
      ),
      speech: speaks({ pace: 1 }),
    })
    let most = 0
    rig.onEvent = () => {
      most = Math.max(most, rig.of('mouth').filter(({ over }) => !over).length)
    }
    rig.say('Go.')
    await rig.until('response-end')
    expect(rig.types.indexOf('audio-delta')).toBeLessThan(rig.types.lastIndexOf('transcript-delta'))
    expect(most).toBe(2)
    expect(rig.of('mouth').length).toBe(4)
  })

  it('is in the order of the text, where a later sentence is ready first', async () => {
    const rig = await open({
      conversation: says('This one is slow to come. This one is quick.'),
      speech: inTurn(speaks({ pace: 3, msPerLetter: 4 }), speaks({ msPerLetter: 2 })),
    })
    rig.say('Go.')
    await rig.until('response-end')
    const bytes = Buffer.concat(rig.all('audio-delta').map(({ audio }) => audio))
    expect(bytes.length / 48).toBeCloseTo(4 * 'This one is slow to come.'.length + 2 * 'This one is quick.'.length, 0)
  })
})

describe('settings', () => {
  it('are all shown, with defaults, and changed field by field', async () => {
    const rig = await open({}, { instructions: 'A' })
    expect(rig.all('session-created')[0]!.settings).toMatchObject({
      instructions: 'A',
      modalities: ['audio'],
      input: { turnDetection: { type: 'silence' } },
      output: { voice: 'nova' },
    })
    rig.send({
      type: 'session-update',
      settings: { output: { voice: 'onyx', speed: 1.2 }, input: { turnDetection: null } },
    })
    expect(rig.all('session-updated')[0]!.settings).toMatchObject({
      instructions: 'A',
      input: { turnDetection: null, format: { rate: 16_000 } },
      output: { voice: 'onyx', format: { rate: 24_000 } },
    })
    rig.say('Hi.')
    await rig.until('response-end')
    expect(rig.of('mouth')[0]!.request.output.audio).toEqual({ voice: 'onyx', speed: 1.2, mediaType: 'audio/pcm' })
  })

  it('that mean nothing here are losses', async () => {
    const rig = await open()
    const losses = rig.upstream.losses({
      type: 'session-update',
      settings: {
        input: {
          noiseReduction: 'near_field',
          transcription: { model: 'whisper-1' },
          turnDetection: { type: 'semantic', eagerness: 'low' },
        },
        tools: [{ type: 'opaque', format: 'realtime', value: { type: 'mcp' } }],
        extras: { realtime: { tracing: 'auto' } },
      },
    })
    expect(losses.map(({ path, kind }) => `${kind} ${path.join('.')}`).sort()).toEqual([
      'changed settings.input.transcription.model',
      'changed settings.input.turnDetection.type',
      'dropped settings.extras.realtime.tracing',
      'dropped settings.input.noiseReduction',
      'dropped settings.tools.0',
    ])
    expect(rig.upstream.losses({ type: 'session-update', settings: { instructions: 'x' } })).toEqual([])
    expect(rig.upstream.losses({ type: 'audio-append', audio: quiet(1) })).toEqual([])
  })
})

describe('what cannot be done', () => {
  it('is one error event each, with the id of the client event', async () => {
    const rig = await open()
    rig.send({ type: 'response-cancel', id: 'a' })
    rig.send({ type: 'item-truncate', item: 'none', part: 0, audioEndMs: 5, id: 'b' })
    rig.send({ type: 'item-delete', item: 'none', id: 'c' })
    rig.send({ type: 'item-retrieve', item: 'none', id: 'd' })
    rig.send({ type: 'output-clear', id: 'e' })
    rig.send({ type: 'opaque', format: 'realtime', value: {}, id: 'f' })
    rig.send({ type: 'item-create', item: user('x'), after: 'none', id: 'g' })
    expect(rig.all('error').map(({ event }) => event)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    expect(rig.all('error')[0]!.error.code).toBe('response_cancel_not_active')
  })

  it('is a conversation without end', async () => {
    const rig = await open()
    const large = 'x'.repeat(5 * 2 ** 20)
    for (let count = 0; count < 8; count++) rig.send({ type: 'item-create', item: user(large) })
    expect(rig.all('item-added').length).toBe(6)
    expect(rig.all('error').map(({ error }) => error.code)).toEqual([
      'conversation_too_large',
      'conversation_too_large',
    ])
    rig.send({ type: 'item-delete', item: rig.all('item-added')[0]!.item.id! })
    rig.send({ type: 'item-create', item: user('small') })
    expect(rig.all('item-added').length).toBe(7)
  })
})

import { describe, expect, test } from 'vitest'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import { calls, inTurn, Rig, says, speaks, textsOf } from './rig.ts'

const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
const REQUEST = { model: 'chat', messages: [], output: {}, sampling: {}, stream: true } as const
const SIGNAL = new AbortController().signal
const DETACHED: ClientEvent = {
  type: 'response-create',
  settings: { detached: true, modalities: ['text'], context: [user('Classify.')] },
}

test.each([
  ['no', false],
  ['a', true],
])('eight detached responses run beside %s response of the conversation', async (_, isAnswering) => {
  const rig = await Rig.open({ conversation: says('A slow answer.', { pace: 50 }) })
  if (isAnswering) rig.say('Hello.')
  for (let made = 0; made < 8; made++) rig.send(DETACHED)
  expect(rig.all('error')).toEqual([])
  rig.send({ ...DETACHED, id: 'ninth' })
  expect(rig.all('error')).toMatchObject([{ error: { code: 'rate_limit_exceeded' }, event: 'ninth' }])
  rig.upstream.close(1000, '')
})

describe('a response to results that are there before the words before their call have been spoken', () => {
  const looksUp = async function* () {
    const at = { candidate: 0, part: 0 } as const
    yield { type: 'result-start' } as const
    yield { type: 'part-start', at, part: { type: 'text', text: 'Let me look that up.' } } as const
    yield { type: 'part-end', at } as const
    for await (const event of calls({ id: 'call_1', name: 'look', arguments: '{}' })(REQUEST, SIGNAL))
      if (event.type !== 'result-start') yield 'at' in event ? { ...event, at: { ...event.at, part: 1 } } : event
  }
  const result: ClientEvent = {
    type: 'item-create',
    item: {
      role: 'tool',
      content: [{ type: 'tool-result', id: 'call_1', content: [{ type: 'text', text: 'sunny' }] }],
    },
  }
  /** A client such as Semantic Kernel, which answers a call at once. */
  const open = async () => {
    const rig = await Rig.open({ conversation: inTurn(looksUp, says('It is sunny.')), speech: speaks({ pace: 5 }) })
    rig.say('What is the weather?')
    await rig.until('output-end')
    rig.send(result)
    rig.send({ type: 'response-create', id: 'asked', settings: { metadata: { asked: '1' } } })
    return rig
  }

  test('follows when they have been spoken', async () => {
    const rig = await open()
    await rig.until('response-end', rig.events.indexOf(await rig.until('response-end')) + 1)
    expect(rig.all('error')).toEqual([])
    expect(rig.types.filter(type => type.startsWith('response-'))).toEqual([
      ...['response-start', 'response-end', 'response-start', 'response-end'],
    ])
    expect(rig.all('response-start')[1]).toMatchObject({ metadata: { asked: '1' } })
    expect(textsOf(rig.of('chat')[1]!.request)).toContain('tool: tool-result')
    rig.upstream.close(1000, '')
  })

  test('is cancelled with them', async () => {
    const rig = await open()
    rig.send({ type: 'response-cancel' })
    await rig.until('response-end', rig.events.indexOf(await rig.until('response-end')) + 1)
    expect(rig.all('response-end')).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }])
    expect(rig.of('chat')).toHaveLength(1)
    rig.upstream.close(1000, '')
  })
})

test('a response whose input refers to items of the conversation gets them, with the transcripts of speech', async () => {
  const rig = await Rig.open({ conversation: says('Fine.') })
  const source = { type: 'base64' as const, mediaType: 'audio/pcm;rate=16000', data: 'AAAA' }
  const spoken = {
    id: 'spoken',
    role: 'user' as const,
    content: [{ type: 'media' as const, kind: 'audio' as const, source }],
  }
  rig.send({ type: 'item-create', item: { ...user('Remember 7.'), id: 'seven' } })
  rig.send({ type: 'item-create', item: spoken })
  const reference = (id: string) => ({ id, role: 'user' as const, content: [], isReference: true as const })
  const context = [reference('seven'), reference('spoken'), user('Classify.')]
  rig.send({ type: 'response-create', settings: { detached: true, modalities: ['text'], context } })
  await rig.until('response-end')
  expect(rig.of('chat')[0]!.request.messages.map(({ content }) => content)).toEqual([
    [{ type: 'text', text: 'Remember 7.' }],
    [{ type: 'text', text: 'hello' }],
    [{ type: 'text', text: 'Classify.' }],
  ])
  rig.upstream.close(1000, '')
})

test.each([
  [
    'refers to no item',
    { id: 'none', role: 'user' as const, content: [], isReference: true as const },
    'invalid_value',
  ],
  [
    'has speech that nobody transcribes',
    {
      role: 'user' as const,
      content: [
        {
          ...{ type: 'media' as const, kind: 'audio' as const },
          source: { type: 'base64' as const, mediaType: 'audio/pcm;rate=16000', data: 'AAAA' },
        },
      ],
    },
    'cannot_express',
  ],
])('a response whose input %s is refused instead of being answered without it', async (_, item, code) => {
  const rig = await Rig.open()
  rig.send({ type: 'response-create', id: 'asked', settings: { detached: true, context: [item, user('Classify.')] } })
  expect(rig.all('error')).toMatchObject([{ error: { code }, event: 'asked' }])
  expect(rig.all('response-start')).toEqual([])
  rig.upstream.close(1000, '')
})

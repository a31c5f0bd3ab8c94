import { expect, test } from 'vitest'
import type { ClientEvent } from '../../../src/canonical/voice-session-event.ts'
import { Rig, says } from './rig.ts'

const user = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
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

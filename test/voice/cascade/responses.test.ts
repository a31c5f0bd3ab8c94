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

import { expect, test } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { voiceSessionModels } from '../../../src/gateway/realtime/voice-session-models.ts'
import { permitting } from '../../builders/permissions.ts'

const models: ChannelConfig['models'] = {
  named: new Map([['voice', 'upstream-voice']]),
  patterns: ['openai/*'],
  renamed: new Map([['openai/*', '*']]),
}

const update = (model: string) => ({
  type: 'session.update',
  session: { audio: { input: { transcription: { model } } } },
})

test('a session remembers the names of its latest renamed models, and its own', () => {
  const names = voiceSessionModels({
    ...{ permissions: permitting('*'), model: 'voice', upstreamModel: 'upstream-voice', models },
  })
  for (let index = 0; index < 200; index++) names.incoming(update(`openai/ears-${index}`))
  expect(names.publicName('ears-199')).toBe('openai/ears-199')
  expect(names.publicName('ears-0')).toBe('ears-0')
  expect(names.publicName('upstream-voice')).toBe('voice')
  const long = `openai/${'x'.repeat(501)}`
  names.incoming(update(long))
  expect(names.publicName('x'.repeat(501))).toBe('x'.repeat(501))
})

test('a model that transcribes needs permission only where the upstream uses it', () => {
  const options = { permissions: permitting('voice'), model: 'voice', upstreamModel: 'upstream-voice' }
  const event = update('gpt-4o-mini-transcribe')
  // Frameworks name OpenAI's model for every session, and with it all other settings in the same event.
  expect(voiceSessionModels({ ...options, models: undefined }).incoming(event)).toEqual(event)
  const { incoming } = voiceSessionModels({ ...options, models })
  expect(() => incoming(event)).toThrow('may not use the model "gpt-4o-mini-transcribe"')
  const tools = { type: 'session.update', session: { tools: [{ type: 'image_generation', model: 'dear' }] } }
  expect(() => voiceSessionModels({ ...options, models: undefined }).incoming(tools)).toThrow('"dear"')
})

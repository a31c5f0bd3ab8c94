import { describe, expect, test } from 'vitest'
import { ServerWriter } from '../../../../src/voice/formats/realtime/server-writer.ts'
import { readSettings } from '../../../../src/voice/formats/realtime/settings-reader.ts'
import { writeSettings } from '../../../../src/voice/formats/realtime/settings-writer.ts'

/* GA allows `["audio"]` or `["text"]`. The beta allows `["text", "audio"]` or `["text"]`. */

describe('spoken output', () => {
  test.each([{ modalities: ['text', 'audio'] }, { modalities: ['audio', 'text'] }, { output_modalities: ['audio'] }])(
    'of %j is written as each generation allows it',
    session => {
      const settings = readSettings(session, 'session')
      expect(writeSettings(settings, 'ga')).toEqual({ output_modalities: ['audio'] })
      expect(writeSettings(settings, 'beta')).toEqual({ modalities: ['text', 'audio'] })
    },
  )

  test.each([
    ['ga' as const, { output_modalities: ['audio'] }],
    ['beta' as const, { modalities: ['text', 'audio'] }],
  ])('of a response is written as the %s generation allows it', (naming, response) => {
    const writer = new ServerWriter({ naming, newId: prefix => prefix })
    const [created] = writer.write({ type: 'response-start', response: 'r', modalities: ['audio'] })
    expect(JSON.parse(created!)).toMatchObject({ type: 'response.created', response })
  })
})

test('output of text alone is the same in both generations', () => {
  const settings = readSettings({ modalities: ['text'] }, 'session')
  expect(writeSettings(settings, 'ga')).toEqual({ output_modalities: ['text'] })
  expect(writeSettings(settings, 'beta')).toEqual({ modalities: ['text'] })
})

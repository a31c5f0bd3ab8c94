import { expect, test } from 'vitest'
import type { GatewayError } from '../../../../src/canonical/error.ts'
import { readSettings } from '../../../../src/voice/formats/realtime/settings-reader.ts'

test.each([{ audio: { input: { noise_reduction: { type: 7 } } } }, { input_audio_noise_reduction: { type: 7 } }])(
  'a noise reduction of a wrong type is reported with its path: %j',
  session => {
    try {
      readSettings(session, 'session')
      expect.unreachable()
    } catch (thrown) {
      expect((thrown as GatewayError).error.param).toBe('session.audio.input.noise_reduction.type')
    }
  },
)

import { expect, test, vi } from 'vitest'
import { FRAME, openVoiceActivity } from '../../../src/voice/cascade/vad.ts'

const failures = vi.hoisted(() => ({ left: 1 }))

vi.mock('@echogarden/fvad-wasm', async original => {
  const { default: load } = await original<{ default: () => Promise<unknown> }>()
  return {
    default: async () => {
      if (failures.left-- > 0) throw new Error('There is no memory for WebAssembly.')
      return load()
    },
  }
})

test('a library that could not be loaded is loaded again for the next session', async () => {
  await expect(openVoiceActivity()).rejects.toThrow('no memory')
  const detector = await openVoiceActivity()
  expect(detector.isSpeech(new Int16Array(FRAME))).toBe(false)
  detector.close()
})

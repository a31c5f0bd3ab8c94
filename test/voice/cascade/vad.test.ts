import { afterEach, expect, test, vi } from 'vitest'

const LIBRARY = '@echogarden/fvad-wasm'

afterEach(() => {
  vi.doUnmock(LIBRARY)
  vi.resetModules()
})

test('a library that could not be loaded is loaded again for the next session', async () => {
  vi.resetModules()
  const { default: load } = await import('@echogarden/fvad-wasm')
  let loads = 0
  const failingOnce: typeof load = async () => {
    if (++loads === 1) throw new Error('There is no memory for WebAssembly.')
    return load()
  }
  vi.doMock(LIBRARY, () => ({ default: failingOnce }))
  const { FRAME_SAMPLES, openVoiceActivity } = await import('../../../src/voice/cascade/vad.ts')
  await expect(openVoiceActivity()).rejects.toThrow('no memory')
  const detector = await openVoiceActivity()
  expect(detector.isSpeech(new Int16Array(FRAME_SAMPLES))).toBe(false)
  detector.close()
  expect(loads).toBe(2)
})

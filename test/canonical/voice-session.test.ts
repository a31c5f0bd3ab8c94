import { expect, test } from 'vitest'
import {
  ALAW,
  type AudioFormat,
  bytesPerSecond,
  isSameAudioFormat,
  MULAW,
  PCM_16K,
  PCM_24K,
} from '../../src/canonical/voice-session.ts'

const FORMATS: readonly AudioFormat[] = [PCM_24K, PCM_16K, MULAW, ALAW]

test('audio formats are equal if encoding and rate are', () => {
  for (const [index, one] of FORMATS.entries())
    expect(FORMATS.map(other => isSameAudioFormat(one, { ...other }))).toEqual(FORMATS.map((_, at) => at === index))
})

test('a second of audio has two bytes per sample, or one in G.711', () => {
  expect(FORMATS.map(bytesPerSecond)).toEqual([48_000, 32_000, 8000, 8000])
  expect(FORMATS.map(({ encoding }) => encoding)).toEqual(['pcm16', 'pcm16', 'mulaw', 'alaw'])
})

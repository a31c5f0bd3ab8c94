import { expect, test } from 'vitest'
import { LARGEST, MARGIN, Recording } from '../../../src/gateway/capture/recording.ts'

test('a body that comes byte by byte takes no more memory than a large one', () => {
  const recording = new Recording(performance.now())
  for (let at = 0; at < 100_000; at++) recording.take('x')
  expect(recording.pieces.length).toBe(20_000)
  expect(recording.kept).toBe(20_000)
  expect(recording.size).toBe(100_000)
  expect(recording.isCut).toBe(true)
})

test('of a long body so many bytes are kept', () => {
  const recording = new Recording(performance.now())
  const piece = Buffer.alloc(1024 * 1024)
  for (let at = 0; at < 100; at++) recording.take(piece)
  expect(recording.kept).toBe(LARGEST + MARGIN)
  expect(recording.pieces.reduce((sum, { content }) => sum + content.length, 0)).toBe(LARGEST + MARGIN)
  expect(recording.size).toBe(100 * piece.length)
})

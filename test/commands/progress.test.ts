import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Progress } from '../../src/commands/serving.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const begun = (elapsed: number) => {
  const said: string[] = []
  return { said, progress: new Progress({ out: () => {}, fault: text => said.push(text) }, elapsed) }
}

test('a start of less than a second says nothing', () => {
  const { said, progress } = begun(200)
  progress.begin('opening the store')
  vi.advanceTimersByTime(799)
  progress.end()
  vi.advanceTimersByTime(10_000)
  expect(said).toEqual([])
})

test('a longer one says what it does, and each step from then on', () => {
  const { said, progress } = begun(200)
  progress.begin('reading the config')
  progress.begin('opening the store')
  vi.advanceTimersByTime(800)
  expect(said).toEqual(['starting: opening the store …'])
  progress.begin('making the first key')
  expect(said).toEqual(['starting: opening the store …', 'starting: making the first key …'])
})

import { expect, test } from 'vitest'
import { loadOnce } from '../../src/canonical/load-once.ts'

test('what is loaded once is loaded once, however many wait for it', async () => {
  let count = 0
  const load = loadOnce(async () => ++count)
  expect(await Promise.all([load(), load(), load()])).toEqual([1, 1, 1])
  expect(await load()).toBe(1)
})

test('what could not be loaded, as without free file descriptors, is loaded by the next call', async () => {
  let count = 0
  const load = loadOnce(async () => {
    if (++count < 3) throw new Error('EMFILE: too many open files')
    return count
  })
  await expect(Promise.all([load(), load()])).rejects.toThrow('EMFILE')
  await expect(load()).rejects.toThrow('EMFILE')
  expect(await load()).toBe(3)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Library, type WantedAnswer } from '../../../src/kit/recordings/library.ts'
import { type Recording, VERSION } from '../../../src/kit/recordings/recording.ts'

/* Folders with very many recordings, as the tests of a large application have. */

const CHAT: WantedAnswer = { format: 'chat', streams: false }
const SYSTEM = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

const bodyOf = (number: number) => ({
  model: 'm',
  messages: [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: `Question ${number}` },
  ],
})

const recordingOf = (number: number): Recording => ({
  ...{ version: VERSION, program: 'test', recorded_at: '2026-11-28T00:00:00.000Z' },
  request: { method: 'POST', path: '/v1/chat/completions', headers: {}, body: { json: bodyOf(number) } },
  answer: { status: 200, headers: { 'content-type': 'application/json' }, ms: 1, body: { json: {} }, complete: true },
})

const libraryOf = (count: number): Library =>
  new Library(Array.from({ length: count }, (_, index) => ({ file: `${index}.json`, recording: recordingOf(index) })))

const find = (library: Library, number: number) =>
  library.find(
    { method: 'POST', url: '/v1/chat/completions', headers: {}, body: Buffer.from(JSON.stringify(bodyOf(number))) },
    CHAT,
  )

async function timeOfFinds(count: number): Promise<number> {
  const library = libraryOf(count)
  await find(library, 0)
  const startedAt = performance.now()
  for (let number = 0; number < 300; number++)
    expect(await find(library, number)).toMatchObject({ file: `${number}.json` })
  return performance.now() - startedAt
}

test('the time of a request does not grow with the folder', async () => {
  await timeOfFinds(400)
  const [small, large] = [await timeOfFinds(400), await timeOfFinds(12_800)]
  expect(large).toBeLessThan(3 * Math.max(small, 20))
}, 60_000)

test('the first request does not hold up others while the recordings are read', async () => {
  const library = libraryOf(16_000)
  let latest = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - latest)
    latest = performance.now()
  }, 1)
  const startedAt = performance.now()
  // Of requests at the same time, each finds its own.
  const found = await Promise.all([find(library, 15_999), find(library, 3), find(library, 3000)])
  const took = performance.now() - startedAt
  await sleep(5)
  clearInterval(timer)
  expect(found.map(one => one && 'answer' in one && one.file)).toEqual(['15999.json', '3.json', '3000.json'])
  expect(longest).toBeLessThan(Math.max(60, took / 3))
}, 60_000)

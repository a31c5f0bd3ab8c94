import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ALL, bundled, RUNTIMES, runBare } from './bundled.ts'

/** Maximum size of the library with all conversation formats, in bytes after minification and gzip. */
const MAX_SIZE = 185_000

/** The figures of docs/library.md, in KB: all formats, two of them, a reader of streams. */
const [ALL_FORMATS, PAIR, READER] = [
  ...readFileSync('docs/library.md', 'utf8').matchAll(/(\d+) KB (?:with all four|with chat|for reading)/g),
].map(([, size]) => Number(size))

/** Checks a size against the documented one. Compression differs by some bytes between versions of Node. */
const expectDocumented = (bytes: number, documented: number | undefined): void =>
  expect(Math.abs(bytes / 1000 - documented!)).toBeLessThan(3)

const runtimes = Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[]

test.each(runtimes)('all formats fit a bundle for the %s, which needs nothing of Node', async runtime => {
  const { imports, compressed, code } = await bundled(ALL, runtime)
  console.log(`All formats, ${runtime}: ${(compressed / 1000).toFixed(1)} KB`)
  expect(imports).toEqual([])
  expect(code).not.toMatch(/\brequire\(|\bprocess\.|["']node:/)
  expect(compressed).toBeLessThanOrEqual(MAX_SIZE)
  expectDocumented(compressed, ALL_FORMATS)
  expect(Object.keys(runBare(code))).toContain('translate')
})

test('a program with two formats has only those in its bundle', async () => {
  const pair = await bundled(
    `import { chat, messages, translate } from './src/kit/library/index.ts'
     export const toMessages = body => translate(body, { from: chat, to: messages }).body`,
    'browser',
  )
  const all = await bundled(ALL, 'browser')
  console.log(`chat and messages: ${(pair.compressed / 1000).toFixed(1)} KB`)
  expect(pair.compressed).toBeLessThan(all.compressed * 0.7)
  expectDocumented(pair.compressed, PAIR)
  expect(pair.code).not.toContain('groundingMetadata')
})

test('a reader alone is smaller still', async () => {
  const one = await bundled(
    `import { chat, readStream } from './src/kit/library/index.ts'
     export const events = stream => stream.pipeThrough(readStream(chat))`,
    'edge',
  )
  console.log(`streams of chat: ${(one.compressed / 1000).toFixed(1)} KB`)
  expect(one.compressed).toBeLessThan(MAX_SIZE / 2)
  expectDocumented(one.compressed, READER)
})

import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { expect, test } from 'vitest'
import * as library from '../../../src/kit/library/index.ts'
import { plain } from '../../laws/support.ts'

/* Runs every example of the library's comments and of docs/library.md. `VALUE // EXPECTED` compares the two. */

interface Example {
  readonly name: string
  readonly code: string
}

const BLOCK = /```ts\n([\s\S]*?)```/g

const FILES = [...globSync('src/kit/library/*.ts'), 'docs/library.md']

const EXAMPLES: readonly Example[] = FILES.flatMap(file =>
  [
    ...readFileSync(file, 'utf8')
      .replaceAll(/^ *\* ?/gm, '')
      .matchAll(BLOCK),
  ].map(([, code], index) => ({
    name: `${file} ${index + 1}`,
    code: code!,
  })),
)

const HI = {
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  usage: { input_tokens: 3, output_tokens: 2 },
}
const WHOLE = { ...HI, id: 'msg_1', content: [{ type: 'text', text: 'Hi!' }], stop_reason: 'end_turn' }
const EVENTS = [
  { type: 'message_start', message: { ...HI, id: 'msg_1', content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi!' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

/** Answers as an upstream of messages, without a network. */
const upstream = async (_: string, { body }: { readonly body: string }) =>
  JSON.parse(body).stream === true
    ? new Response(EVENTS.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
    : Response.json(WHOLE)

const COMPARED = /^(?<value>(?!const |import |\/\/).+?) \/\/ (?<expected>.+)$/gm

/** Turns `VALUE // EXPECTED` into a comparison; `…` in it stands for fields that are left out. */
const withComparisons = (code: string): string =>
  code
    .replaceAll(/^import .*$/gm, '')
    .replaceAll(COMPARED, (_, value: string, expected: string) =>
      expected.includes('…')
        ? `expect(plain(${value})).toMatchObject(${expected.replaceAll(', …', '')})`
        : `expect(plain(${value})).toEqual(${expected})`,
    )

const AsyncFunction = (async () => {}).constructor as new (
  ...source: string[]
) => (...values: unknown[]) => Promise<void>

test('there are examples, and each compares something', () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(7)
  expect(EXAMPLES.filter(({ code }) => !withComparisons(code).includes('expect('))).toEqual([])
})

test.each(EXAMPLES)('$name', async ({ code }) => {
  const names = Object.keys(library)
  const run = new AsyncFunction(...names, 'expect', 'plain', 'fetch', stripTypeScriptTypes(withComparisons(code)))
  await run(...Object.values(library), expect, plain, upstream)
})

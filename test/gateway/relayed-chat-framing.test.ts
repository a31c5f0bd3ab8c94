import { expect, test } from 'vitest'
import { events, STREAM } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { dataOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

const { openUpstream, openGateway } = opener()

const MODELS = { named: new Map([['m', 'upstream-m']]), patterns: [] }

const body = (delta: object, finish_reason: string | null = null): string =>
  JSON.stringify({
    id: 'upstream-id',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'upstream-m',
    choices: [{ index: 0, delta, finish_reason }],
  })
const BODIES = [
  body({ role: 'assistant', content: '' }),
  body({ content: 'Hel' }),
  body({ content: 'lo' }),
  body({}, 'stop'),
  '[DONE]',
]
const inLines = (data: string, line: string): string => JSON.stringify(JSON.parse(data), null, 1).replaceAll('\n', line)

test.each<[string, string]>([
  ['no space', BODIES.map(data => `data:${data}\n\n`).join('')],
  ['line ends of two characters', BODIES.map(data => `data: ${data}\r\n\r\n`).join('')],
  ['a byte order mark', `\uFEFF${BODIES.map(data => `data: ${data}\n\n`).join('')}`],
  ['comments', BODIES.map(data => `: at 10.0.0.1\n\ndata: ${data}\n: x\n\n`).join('')],
  ['names, ids and times', BODIES.map(data => `event: message\nid: 7\nretry: 1\ndata: ${data}\n\n`).join('')],
  [
    'many lines of data',
    BODIES.map(data => `data: ${data.startsWith('[') ? data : inLines(data, '\ndata: ')}\n\n`).join(''),
  ],
  [
    'no end mark',
    BODIES.slice(0, -1)
      .map(data => `data: ${data}\n\n`)
      .join(''),
  ],
  ['more behind the end', `${BODIES.map(data => `data: ${data}\n\n`).join('')}data: ${body({ content: '!' })}\n\n`],
])('an answer framed with %s passes under the names of the caller', async (_, text) => {
  const upstream = await openUpstream(response => void events(response).end(text))
  const gateway = await openGateway([channelAt(upstream.address, { models: MODELS })])
  const answer = await gateway.ask(CHAT_PATH, STREAM)
  expect(answer.text).not.toMatch(/upstream-m|10\.0\.0\.1/)
  const sent = dataOf(answer.text)
  expect(sent.at(-1)).toBe('[DONE]')
  const chunks = sent.slice(0, -1).map(data => JSON.parse(data))
  expect(chunks.every(({ model }) => model === 'm')).toBe(true)
  expect(chunks.map(({ choices }) => choices[0].delta.content ?? '').join('')).toBe('Hello')
  expect(chunks.map(({ choices }) => choices[0].finish_reason).filter(Boolean)).toEqual(['stop'])
})

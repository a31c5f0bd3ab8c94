import { expect, test } from 'vitest'
import { ASK, events, failure, HEAD, hello, json, STREAM, words } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

/* Answers that break off, and events that are buffered until an answer begins. */

const { open, openGateway, openRows, openUpstream } = opener()

const ERROR = `data: ${JSON.stringify(failure('The pen broke.', { type: 'server_error' }))}\n\n`

test.each([
  ['ends with an error', `${HEAD}${words('Hel')}${ERROR}`, 'The pen broke.'],
  ['just ends', `${HEAD}${words('Hel')}`, 'ended'],
])('a channel whose begun answer %s has failed, and rests', async (_, answer, said) => {
  const { testServer, upstreams } = await openRows([
    { script: response => events(response).end(answer), priority: 0 },
    { script: hello, priority: 1 },
  ])
  const { text } = await testServer.ask(CHAT_PATH, STREAM)
  expect(text).toContain('Hel')
  expect(text).toContain('error')
  const failed = testServer.lines.find(({ message }) => message === 'a channel failed')!
  expect(failed.fields).toMatchObject({ channel: 'channel-0', rests: 'model', said: expect.stringContaining(said) })
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect(upstreams.map(({ seen }) => seen.length)).toEqual([1, 1])
})

test("the id of one channel's answer is not logged with another channel", async () => {
  const gone = await openUpstream(hello)
  const address = gone.address
  await gone.close()
  const first = await openUpstream(response => json(response, failure('Busy.'), 500, { 'x-request-id': 'req_first' }))
  const testServer = await openGateway([
    channelAt(first.address, { name: 'first', priority: 0 }),
    channelAt(address, { name: 'second', priority: 1 }),
  ])
  await testServer.ask(CHAT_PATH, ASK)
  const line = testServer.lines.find(({ message }) => message === 'request')!
  expect(line.fields).toMatchObject({ channel: 'second', attempts: 2 })
  expect(line.fields['upstream_id']).toBeUndefined()
})

test('no more than a bounded text is held back of a foreign stream without content', async () => {
  const unknown = `event: odd\ndata: ${JSON.stringify({ type: 'odd', text: 'x'.repeat(300_000) })}\n\n`
  const start = `event: message_start\ndata: ${JSON.stringify({
    type: 'message_start',
    message: { id: 'm1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
  })}\n\n`
  const { testServer } = await open(
    response => void events(response).write(start + unknown.repeat(4)),
    { heartbeat: 600_000 },
    { format: 'messages' },
  )
  const { headers } = await testServer.send(CHAT_PATH, STREAM).answer
  expect(headers['content-type']).toContain('text/event-stream')
})

import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ASK } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

/* Upstreams that answer before they have read the request, and heads with unusual parts around an answer. */

const { closing, openGateway } = opener()

const WHOLE = JSON.stringify({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
})
const answer = (body: string, status: string, ...headers: string[]): string =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${body.length}`, ...headers, '', body].join(
    '\r\n',
  )
const TOO_LARGE = answer(
  JSON.stringify({ error: { message: 'Request too large.', type: 'invalid_request_error' } }),
  '413 Payload Too Large',
  'connection: close',
)

/** Opens a server that calls back when the head of a request has arrived, and a gateway before it. */
async function open(onHead: (socket: Socket, isLarge: boolean) => void) {
  let connections = 0
  const server = createServer(socket => {
    connections++
    let text = ''
    let isAnswered = false
    socket.on('error', () => {})
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end < 0 || isAnswered) return
      const length = Number(/content-length: (\d+)/i.exec(text)![1])
      if (length > 1e6) isAnswered = true
      else if (text.length < end + 4 + length) return
      text = ''
      onHead(socket, isAnswered)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const gateway = await openGateway([channelAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)])
  const restingNow = async () => (await gateway.ask('/readyz', undefined, { method: 'GET' })).json.resting
  return { gateway, restingNow, connectionCount: () => connections }
}

describe('an upstream that refuses a large body before it has read it', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['ends the connection', socket => socket.end(TOO_LARGE)],
    ['closes the connection', socket => socket.write(TOO_LARGE, () => socket.destroy())],
    ['resets the connection', socket => socket.write(TOO_LARGE, () => socket.resetAndDestroy())],
    ['stops reading', socket => void socket.pause().write(TOO_LARGE)],
  ])('and %s, is heard, and rests for nobody', async (_, refuse) => {
    const { gateway, restingNow } = await open((socket, isLarge) =>
      isLarge ? refuse(socket) : void socket.write(answer(WHOLE, '200 OK')),
    )
    const large = { ...ASK, messages: [{ role: 'user', content: 'x'.repeat(12e6) }] }
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    for (const _ of [1, 2]) expect((await gateway.ask(CHAT_PATH, large)).status).toBe(413)
    expect(await restingNow()).toEqual({ channels: 0, models: 0 })
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
  })
})

test.each([
  ['early hints', `HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n${answer(WHOLE, '200 OK')}`],
  [
    'several informational heads',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answer(WHOLE, '200 OK')}`,
  ],
  [
    'chunk extensions and trailers',
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n${WHOLE.length.toString(16)};name="a;b"\r\n${WHOLE}\r\n0;last\r\nx-sum: 1\r\n\r\n`,
  ],
])('an answer with %s is read, and its connection is used again', async (_, bytes) => {
  const { gateway, connectionCount } = await open(socket => void socket.write(bytes))
  for (const _ of [1, 2, 3]) {
    const { status, json } = await gateway.ask(CHAT_PATH, ASK)
    expect([status, json.choices?.[0].message.content]).toEqual([200, 'Hello.'])
  }
  expect(connectionCount()).toBe(1)
})

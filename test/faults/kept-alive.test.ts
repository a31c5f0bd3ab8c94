import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, STREAM } from '../builders/chat.ts'
import { type ChannelFields, channelAt, KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import { answerOf, type Came, WireUpstream } from '../builders/wire-upstream.ts'

const { closing, openGateway } = opener()
const good = ({ socket }: Came): unknown => socket.write(answerOf(JSON.stringify(ANSWER)))
const reset = ({ socket }: Came): unknown => socket.resetAndDestroy()
const ended = ({ socket }: Came): unknown => socket.destroy()

async function open(answer: (came: Came) => void, fields: ChannelFields = {}) {
  const upstream = await WireUpstream.open(answer)
  closing.push(() => upstream.close())
  const testServer = await openGateway([channelAt(upstream.address, fields)])
  return { upstream, testServer }
}

describe('a kept-alive connection that its upstream closed', TIMED, () => {
  test.each([
    ['with a reset', reset],
    ['with an end', ended],
  ])('%s as the next request came costs no caller anything', async (_, broken) => {
    const { testServer, upstream } = await open(came => (came.turn === 0 ? good(came) : broken(came)))
    for (const _ of Array(50)) expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(upstream.connections).toBeGreaterThan(2)
    const lines = testServer.lines.filter(({ message }) => message === 'request')
    expect(new Set(lines.map(({ fields }) => fields['attempts']))).toEqual(new Set([1]))
    expect(testServer.lines.some(({ message }) => message === 'a channel failed')).toBe(false)
  })

  test('at any moment costs none of thousands anything', async () => {
    const { testServer, upstream } = await open(came => {
      good(came)
      setTimeout(() => (came.turn % 2 === 0 ? came.socket.destroy() : came.socket.resetAndDestroy()), came.turn % 7)
    })
    const statuses = new Map<number, number>()
    const caller = async (): Promise<void> => {
      for (let turn = 0; turn < 125; turn++) {
        const { status } = await testServer.ask(CHAT_PATH, turn % 3 === 0 ? STREAM : ASK)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await new Promise(resolve => setTimeout(resolve, turn % 8))
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
    expect([...statuses]).toEqual([[200, 2000]])
    expect(upstream.connections).toBeGreaterThan(10)
  })

  test('is tried anew once, not more often', async () => {
    const { testServer, upstream } = await open(came => (upstream.came.length === 1 ? good(came) : reset(came)))
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(upstream.came.map(({ connection }) => connection)).toEqual([0, 0, 1])
  })

  test('is none where it was new: that is a failure of the upstream', async () => {
    const { testServer, upstream } = await open(reset)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(upstream.came).toHaveLength(1)
  })

  test('is none where anything of an answer came', async () => {
    const { testServer, upstream } = await open(came =>
      came.turn === 0 ? good(came) : came.socket.write('HTTP/1.1 2', () => reset(came)),
    )
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(upstream.came).toHaveLength(2)
  })

  test('is none where the upstream had the request for a while: it may be at work on it', async () => {
    const { testServer, upstream } = await open(came => (came.turn === 0 ? good(came) : setTimeout(reset, 1500, came)))
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(502)
    expect(upstream.came).toHaveLength(2)
  })

  test('is let be where the caller left', async () => {
    const { testServer, upstream } = await open(came => (came.turn === 0 ? good(came) : setTimeout(reset, 200, came)))
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    const { out, answer } = testServer.send(CHAT_PATH, ASK)
    await until(() => upstream.came.length === 2)
    out.destroy()
    await answer.catch(() => {})
    await new Promise(resolve => setTimeout(resolve, 400))
    expect(upstream.came).toHaveLength(2)
  })
})

describe('a form over a kept-alive connection that its upstream closed', () => {
  const boundary = 'edge'
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, authorization: `Bearer ${KEY}` }
  const field = (name: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const form = (bytes: number): string =>
    `${field('model', 'm')}--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n` +
    `content-type: audio/wav\r\n\r\n${'x'.repeat(bytes)}\r\n--${boundary}--\r\n`

  test('is sent again where it is held', async () => {
    const heard = ({ socket }: Came): unknown => socket.write(answerOf('{"text":"Hello."}'))
    const { testServer, upstream } = await open(came => (came.turn === 0 ? heard(came) : reset(came)), {
      format: 'transcriptions',
    })
    for (const _ of Array(4)) {
      const { status, json } = await testServer.ask('/v1/audio/transcriptions', form(1000), { headers })
      expect([status, json]).toEqual([200, { text: 'Hello.' }])
    }
    expect(upstream.came.filter(({ turn }) => turn === 1).length).toBeGreaterThan(0)
    expect(new Set(upstream.came.map(({ body }) => body.length)).size).toBe(1)
  })
})

describe('an upstream that says 100 Continue unasked', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  test.each([
    ['before its answer', [CONTINUE, '']],
    ['several times, and more', [`${CONTINUE}HTTP/1.1 102 Processing\r\n\r\n${CONTINUE}`, '']],
    ['cut into two', ['HTTP/1.1 1', '00 Continue\r\n\r\n']],
    ['with early hints', ['HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', CONTINUE]],
  ])('%s answers all the same', async (_, [first, second]) => {
    const { testServer, upstream } = await open(came => {
      came.socket.write(first!)
      setTimeout(() => {
        came.socket.write(second!)
        good(came)
      }, 10)
    })
    for (const _ of Array(3)) expect((await testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    expect(upstream.connections).toBe(1)
  })
})

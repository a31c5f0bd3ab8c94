import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { ASK, events, HEAD, hello, STREAM, words } from '../builders/chat.ts'
import { channelAt, configOf, KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { GET, textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { Client } from '../sockets/client.ts'
import { STREAMED } from './streams.ts'

const { closing, open, openGateway, openUpstream } = opener()
const silent: Script = () => {}
const STOPPED = 'The gateway is shutting down. Retry the request.'

/** Reads an answer until part of it has arrived, then the rest. */
async function reading(testServer: TestServer, path: string, body: unknown, headers = {}, begun = '') {
  const answer = await testServer.send(path, body, { headers }).answer
  let text = ''
  answer.setEncoding('utf8').on('data', piece => (text += piece))
  const whole = new Promise<string>((resolve, reject) => answer.on('end', () => resolve(text)).on('error', reject))
  whole.catch(() => {})
  await until(() => text.includes(begun))
  return { answer, whole }
}

describe('before the port closes', () => {
  test('it is said not to be ready, and whoever asks is answered and sent away', async () => {
    const { testServer } = await open(hello)
    const drained = testServer.server.drain(300)
    expect((await testServer.ask('/readyz', undefined, GET)).status).toBe(503)
    expect((await testServer.ask('/healthz', undefined, GET)).status).toBe(200)
    const whole = await testServer.ask(CHAT_PATH, ASK, { headers: { connection: 'keep-alive' } })
    expect(whole).toMatchObject({ status: 200, headers: { connection: 'close' } })
    const streamed = await testServer.ask(CHAT_PATH, STREAM, { headers: { connection: 'keep-alive' } })
    expect(streamed).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(streamed.text).toContain('[DONE]')
    expect((await testServer.ask('/v1/models', undefined, GET)).headers['connection']).toBe('close')
    const socket = await Client.open(testServer.server.address)
    expect((await socket.turn({ input: 'Hi' })).at(-1).type).toBe('response.completed')
    await drained
    await testServer.server.close()
    await until(() => socket.closed !== undefined)
    expect(socket.closed).toBe(1001)
    await expect(testServer.ask('/healthz', undefined, GET)).rejects.toThrow()
  })

  test('a connection is kept before that', async () => {
    const { testServer } = await open(hello)
    const whole = await testServer.ask(CHAT_PATH, ASK, { headers: { connection: 'keep-alive' } })
    expect(whole.headers['connection']).toBe('keep-alive')
  })
})

describe('what outlasts the grace time', () => {
  test.each(Object.entries(STREAMED))('a stream of %s ends with its error', TIMED, async (_, door) => {
    const { testServer, upstream } = await open(door.begins, {}, { format: door.format })
    const { answer, whole } = await reading(testServer, door.path, door.body, door.headers, door.begun)
    const began = Date.now()
    await testServer.server.close(50)
    expect(Date.now() - began).toBeLessThan(900)
    const text = await whole
    expect(answer.statusCode).toBe(200)
    expect(answer.complete).toBe(true)
    expect(text).toContain(door.begun)
    expect(door.error(text)).toBe(STOPPED)
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    expect(testServer.lines.at(-1)!.fields).toMatchObject({ status: 200, error: 'overloaded' })
  })

  test.each(Object.entries(STREAMED))('an answer of %s that was not begun is a 503', async (name, door) => {
    const { testServer, upstream } = await open(silent, {}, { format: door.format })
    const asked = testServer.ask(door.path, door.body, door.headers === undefined ? {} : { headers: door.headers })
    await until(() => upstream.seen.length > 0)
    await testServer.server.close(20)
    const { status, json, headers } = await asked
    expect(status).toBe(503)
    expect(headers['retry-after'] ?? '1').toBe('1')
    const body = name.includes('array') ? json[0] : json
    expect(body.error.message).toBe(STOPPED)
    expect(testServer.lines.at(-1)!.fields).toMatchObject({ status: 503, error: 'overloaded' })
  })

  test('a whole answer is a 503, and no other channel is asked', async () => {
    const { testServer, upstream } = await open(silent)
    const other = await openUpstream(hello)
    testServer.server.reload(
      configOf([channelAt(upstream.address), channelAt(other.address, { name: 'other', priority: 1 })]),
    )
    const asked = testServer.ask(CHAT_PATH, ASK)
    await until(() => upstream.seen.length > 0)
    await testServer.server.close(20)
    expect(await asked).toMatchObject({ status: 503, json: { error: { message: STOPPED } } })
    expect(other.seen).toHaveLength(0)
    expect(testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a request that is still coming is a 503', TIMED, async () => {
    const { testServer, upstream } = await open(hello)
    const out = request(`${testServer.server.address}${CHAT_PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-length': 500 },
    })
    out.on('error', () => {})
    out.write('{"model":')
    const answered = new Promise<number>(resolve => out.on('response', answer => resolve(answer.statusCode!)))
    await new Promise(resolve => setTimeout(resolve, 100))
    await testServer.server.close(20)
    expect(await answered).toBe(503)
    expect(upstream.seen).toHaveLength(0)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['ends its side', socket => socket.end()],
    ['breaks off', socket => socket.destroy()],
    ['falls silent', () => {}],
    ['goes on with what is no HTTP', socket => socket.end('no\r\n\r\n')],
  ])('nobody waits for the rest of a request that is refused, where its caller %s', TIMED, async (_, then) => {
    const { testServer } = await open(hello)
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    closing.push(() => socket.destroy())
    socket.write(`POST ${CHAT_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n`)
    socket.write('transfer-encoding: chunked\r\n\r\n2\r\n{ \r\n')
    socket.on('error', () => {}).on('data', () => then(socket))
    await new Promise(resolve => setTimeout(resolve, 100))
    await testServer.server.close(20)
    await until(() => testServer.lines.length > 0)
    expect(testServer.lines.map(({ message }) => message)).toEqual(['request'])
  })

  test('bytes without a format are cut off', TIMED, async () => {
    const begins: Script = response => response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('half a sound')
    const { testServer } = await open(begins, {}, { format: 'speech' })
    const answer = await testServer.send('/v1/audio/speech', { model: 'm', input: 'Hi', voice: 'alloy' }).answer
    const text = textOf(answer)
    await new Promise(resolve => setTimeout(resolve, 50))
    await testServer.server.close(20)
    expect(await text).toBe('half a sound')
    expect(answer.complete).toBe(false)
  })

  test('a turn on a socket ends with its error, and the connection closes in order', async () => {
    const { testServer } = await open(STREAMED['chat']!.begins)
    const [begun, silentOne] = [
      await Client.open(testServer.server.address),
      await Client.open(testServer.server.address),
    ]
    begun.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => begun.events.some(({ type }) => type === 'response.output_text.delta'))
    await testServer.server.close(50)
    await until(() => begun.closed !== undefined && silentOne.closed !== undefined)
    expect(begun.events.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { message: STOPPED } } })
    expect([begun.closed, silentOne.closed]).toEqual([1001, 1001])
  })

  test('a turn on a socket of which nothing was said is told its status', async () => {
    const { testServer, upstream } = await open(silent)
    const one = await Client.open(testServer.server.address)
    one.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => upstream.seen.length > 0)
    await testServer.server.close(50)
    await until(() => one.closed !== undefined)
    expect(one.events.at(-1)).toMatchObject({ type: 'error', status: 503, error: { message: STOPPED } })
    expect(one.closed).toBe(1001)
  })

  test('a reader that takes nothing does not hold it up', TIMED, async () => {
    const flood: Script = response => {
      events(response).write(HEAD)
      for (let i = 0; i < 2000; i++) response.write(words('x'.repeat(10_000)))
    }
    const { testServer, upstream } = await open(flood)
    const answer = await testServer.send(CHAT_PATH, STREAM).answer
    answer.pause()
    await until(() => upstream.seen.length > 0)
    await new Promise(resolve => setTimeout(resolve, 200))
    const began = Date.now()
    await testServer.server.close(50)
    expect(Date.now() - began).toBeLessThan(2500)
  })
})

describe('work in the background', () => {
  const begin = { model: 'm', input: 'Hi', background: true }

  test('has the grace time, too', async () => {
    const place = scratch()
    closing.push(place.drop)
    const slow: Script = (response, seen) => void setTimeout(() => hello(response, seen), 200)
    const { testServer, upstream } = await open(slow, { keep: place.path })
    const { id } = (await testServer.ask('/v1/responses', begin)).json
    await until(() => upstream.seen.length > 0)
    await testServer.server.close(5000)
    const next = await openGateway([channelAt(upstream.address)], { keep: place.path })
    expect((await next.ask(`/v1/responses/${id}`, undefined, GET)).json.status).toBe('completed')
  })

  test('that outlasts it has failed, for whoever listens and for the next start', async () => {
    const place = scratch()
    closing.push(place.drop)
    const { testServer, upstream } = await open(STREAMED['chat']!.begins, { keep: place.path })
    const { whole } = await reading(testServer, '/v1/responses', { ...begin, stream: true }, {}, 'response.queued')
    await testServer.server.close(50)
    expect(STREAMED['responses']!.error(await whole)).toBeDefined()
    const kept = JSON.parse(/data: (\{"type":"response.failed".*)/.exec(await whole)![1]!).response
    const next = await openGateway([channelAt(upstream.address)], { keep: place.path })
    expect((await next.ask(`/v1/responses/${kept.id}`, undefined, GET)).json).toMatchObject({ status: 'failed' })
  })
})

import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { IncompleteBodies } from '../../src/accounts/incomplete-bodies.ts'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { KEY, keyOf, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { Client } from '../sockets/client.ts'

const { closing, open: openBefore } = opener()

const KIB = 1024
const OTHER = 'key-of-another'
const ROOM = { key: 300 * KIB, all: 400 * KIB }

async function open(limits: NonNullable<TestServerOptions['limits']>, format = 'chat') {
  const script: Script = response => json(response, format === 'chat' ? ANSWER : { text: 'Hi.' })
  const keys = [keyOf(KEY, 'dev'), keyOf(OTHER, 'other')]
  return openBefore(script, { limits, config: { keys } }, { format })
}

interface Begun {
  readonly out: ClientRequest
  readonly answer: Promise<IncomingMessage>
}

/** Starts a request that sends some bytes now and the rest on demand. */
function begin(
  testServer: TestServer,
  path: string,
  head: string,
  bytes: number,
  key = KEY,
  type = 'application/json',
): Begun {
  const out = request(`${testServer.server.address}${path}`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': type, 'transfer-encoding': 'chunked' },
  })
  const answer = new Promise<IncomingMessage>((resolve, reject) => out.on('response', resolve).on('error', reject))
  answer.catch(() => {})
  closing.push(() => out.destroy())
  out.write(head + ' '.repeat(bytes))
  return { out, answer }
}

const beginChat = (testServer: TestServer, bytes: number, key?: string): Begun =>
  begin(testServer, CHAT_PATH, '', bytes, key)

async function finished({ out, answer }: Begun): Promise<number> {
  out.end(JSON.stringify(ASK))
  return (await answer).statusCode!
}

describe('bytes that wait', TIMED, () => {
  test('are counted by key and in all, and no more when they are given back', () => {
    const waiting = new IncompleteBodies(ROOM)
    const [one, two, three] = ['a', 'a', 'b'].map(key => waiting.open(key))
    one!.take(200 * KIB)
    expect(() => two!.take(100 * KIB)).toThrow(/This key has too many/)
    two!.close()
    expect(() => three!.take(200 * KIB)).toThrow(/There are too many incomplete requests/)
    three!.close()
    expect(() => one!.take(101 * KIB)).toThrow(/larger than/)
    one!.close()
    one!.close()
    one!.take(1e9)
    const again = waiting.open('a')
    again.take(280 * KIB)
    again.give(280 * KIB)
    waiting.open('a').take(250 * KIB)
    const crowd = new IncompleteBodies(ROOM)
    expect(() => {
      for (let index = 0; index < 100; index++) crowd.open('a')
    }).toThrow(/This key has too many/)
  })

  test('of JSON bodies: what is too much is refused, what was there goes on, and makes room', async () => {
    const { testServer } = await open({ waiting: ROOM })
    const [one, two] = [beginChat(testServer, 120 * KIB), beginChat(testServer, 120 * KIB)]
    await pause(200)
    const three = beginChat(testServer, 120 * KIB)
    const refused = await three.answer
    expect(refused.statusCode).toBe(503)
    expect(refused.headers['retry-after']).toBe('1')
    expect(JSON.parse(await textOf(refused)).error.message).toContain('This key has too many')
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
    expect(await finished(one)).toBe(200)
    expect(await finished(beginChat(testServer, 120 * KIB))).toBe(200)
    expect(await finished(two)).toBe(200)
  })

  test('of one key leave room for another, until it is too much in all', async () => {
    const { testServer } = await open({ waiting: ROOM })
    const one = beginChat(testServer, 250 * KIB)
    await pause(200)
    const others = [beginChat(testServer, 60 * KIB, OTHER), beginChat(testServer, 60 * KIB, OTHER)]
    const answered = await Promise.race(others.map(async other => (await other.answer).statusCode))
    expect(answered).toBe(503)
    expect(await finished(one)).toBe(200)
  })

  test('are free again when their caller leaves', async () => {
    const { testServer } = await open({ waiting: ROOM })
    for (let round = 0; round < 5; round++) {
      const left = beginChat(testServer, 250 * KIB)
      await pause(50)
      left.out.destroy()
      await until(() => testServer.lines.filter(({ fields }) => fields['status'] === 499).length > round)
    }
    expect(await finished(beginChat(testServer, 250 * KIB))).toBe(200)
  })

  test('of one body that is more than may ever wait are 413', async () => {
    const { testServer } = await open({ waiting: ROOM })
    expect((await beginChat(testServer, 400 * KIB).answer).statusCode).toBe(413)
  })

  test('of forms: in memory and on disk', async () => {
    const part = (name: string, more = '') => `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
    const file = part('file', '; filename="a.wav"')
    const form = 'multipart/form-data; boundary=x'
    const path = '/v1/audio/transcriptions'
    const rest = `\r\n${part('model')}m\r\n--x--\r\n`
    const memory = await open({ waiting: ROOM }, 'transcriptions')
    const one = begin(memory.testServer, path, file, 200 * KIB, KEY, form)
    await pause(200)
    expect((await begin(memory.testServer, path, file, 200 * KIB, KEY, form).answer).statusCode).toBe(503)
    one.out.end(rest)
    expect((await one.answer).statusCode).toBe(200)

    const disk = await open({ spooled: { key: 6 * 2 ** 20, all: 2 ** 30 } }, 'transcriptions')
    const large = begin(disk.testServer, path, file, 5 * 2 ** 20, KEY, form)
    await pause(500)
    const another = begin(disk.testServer, path, file, 5 * 2 ** 20, KEY, form)
    expect((await another.answer).statusCode).toBe(503)
    large.out.end(rest)
    expect((await large.answer).statusCode).toBe(200)
    const third = begin(disk.testServer, path, file, 5 * 2 ** 20, KEY, form)
    third.out.end(rest)
    expect((await third.answer).statusCode).toBe(200)
  })
})

describe('WebSockets', TIMED, () => {
  /** Opens a connection and starts a message on it that never ends. */
  async function flooding(testServer: TestServer, bytes: number) {
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1'))).on('error', () => {})
    closing.push(() => socket.destroy())
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\nupgrade: websocket\r\n` +
        'connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    await until(() => said.includes('\r\n\r\n'))
    const head = Buffer.alloc(14)
    head.writeUInt8(0x81, 0)
    head.writeUInt8(0xff, 1)
    head.writeBigUInt64BE(10_000_000n, 2)
    socket.write(Buffer.concat([head, Buffer.alloc(bytes, ' ')]))
    return { socket, said: () => said }
  }

  test('a message that is not whole counts, and one too much ends its connection', async () => {
    const { testServer } = await open({ waiting: ROOM }, 'responses')
    const one = await flooding(testServer, 150 * KIB)
    await pause(200)
    const two = await flooding(testServer, 150 * KIB)
    await until(() => two.socket.destroyed || two.socket.readableEnded)
    expect(two.said()).toContain('server_is_overloaded')
    expect(one.socket.destroyed).toBe(false)
    one.socket.destroy()
    await pause(100)
    const three = await flooding(testServer, 150 * KIB)
    await pause(200)
    expect(three.socket.destroyed || three.socket.readableEnded).toBe(false)
  })

  test('pings make no room, and whole messages take none', async () => {
    const { testServer } = await open({ waiting: { key: 100 * KIB, all: 2 ** 20 } }, 'responses')
    const client = await Client.open(testServer.server.address)
    for (let round = 0; round < 20; round++) {
      client.send({ type: 'unknown', text: ' '.repeat(20 * KIB) })
      client.socket.ping('x'.repeat(100))
    }
    await until(() => client.events.length === 20)
    expect(client.closed).toBeUndefined()
    client.socket.terminate()
  })

  test('a key has so many at once and no more, another its own', async () => {
    const { testServer } = await open({ connections: 2 }, 'responses')
    const [one, two] = [await Client.open(testServer.server.address), await Client.open(testServer.server.address)]
    await expect(Client.open(testServer.server.address)).rejects.toMatchObject({ status: 503 })
    const other = await Client.open(testServer.server.address, { authorization: `Bearer ${OTHER}` })
    one.socket.terminate()
    await pause(100)
    const three = await Client.open(testServer.server.address)
    for (const client of [two, other, three]) client.socket.terminate()
  })
})

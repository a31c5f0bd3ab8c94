import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openRecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import { openReplay, type Replay, type ReplayOptions } from '../../../src/kit/recordings/replay-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'sessions-'))
const SCOPE = 'interlingua-replay-scope'

/** A session over a real socket. */
class Session {
  readonly got: { readonly text: string; readonly isBinary: boolean }[] = []
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  readonly socket: WebSocket
  private waiting: (() => void) | undefined

  constructor(url: string, path: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url.replace('http', 'ws') + path, {
      headers: { authorization: 'Bearer sk-caller-123456', ...headers },
    })
    this.socket.on('message', (data, isBinary) => {
      this.got.push({ text: String(data), isBinary })
      this.waiting?.()
    })
    this.closed = new Promise((resolve, reject) => {
      this.socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }))
      this.socket.once('error', reject)
    })
    this.closed.catch(() => {})
  }

  /** Waits for a number of messages in all. */
  async until(count: number): Promise<readonly string[]> {
    while (this.got.length < count) await new Promise<void>(resolve => (this.waiting = resolve))
    return this.got.map(({ text }) => text)
  }

  say(value: object): void {
    const send = (): void => this.socket.send(JSON.stringify(value))
    if (this.socket.readyState === WebSocket.CONNECTING) this.socket.once('open', send)
    else send()
  }

  async end(): Promise<void> {
    this.socket.close()
    await this.closed
  }
}

const append = (audio: string): object => ({
  type: 'input_audio_buffer.append',
  audio: Buffer.from(audio).toString('base64'),
})
const says = (text: string, event_id = 'e'): object => ({ type: 'say', event_id, text })

const REALTIME = '/v1/realtime?model=gpt-realtime'
const RESPONSES = '/v1/responses'

/** A turn of Responses; `fields` come in their order. */
const turn = (input: string): object => ({ type: 'response.create', model: 'm', input })

beforeAll(async () => {
  const upstream = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  let count = 0
  upstream.on('connection', (socket, { url = '' }) => {
    const send = (value: object, binary = false): void => socket.send(Buffer.from(JSON.stringify(value)), { binary })
    let heard = 0
    if (url.startsWith('/v1/realtime')) send({ type: 'session.created', number: ++count })
    socket.on('message', data => {
      const { type, text, input, audio } = JSON.parse(String(data)) as { [name: string]: string }
      if (type === 'input_audio_buffer.append') {
        heard += Buffer.from(audio!, 'base64').length
        if (heard === 4) send({ type: 'speech_started' })
        if (heard === 8) send({ type: 'speech_stopped' })
      } else if (text === 'end') socket.close(4001, 'done')
      else send({ type: 'answer', to: text ?? input, key: 'sk-caller-123456' }, text === 'binary')
    })
  })
  await once(upstream, 'listening')
  const { port } = upstream.address() as { port: number }
  const recorder = new Recorder({ folder, redact: ['/secret-\\d+/'], warn: message => expect.fail(message) })
  const proxy = await openRecordProxy({ upstream: `http://127.0.0.1:${port}`, recorder })
  const record = async (path: string, run: (session: Session) => Promise<void>): Promise<void> => {
    const session = new Session(proxy.url, path)
    await run(session)
    await session.end()
  }
  for (let time = 0; time < 2; time++)
    await record(REALTIME, async session => {
      await session.until(1)
      session.say(says('hello', 'e1'))
      await session.until(2)
      for (const audio of ['ab', 'cd']) session.say(append(audio))
      await session.until(3)
      session.say(append('efgh'))
      await session.until(4)
    })
  await record(REALTIME, async session => {
    await session.until(1)
    session.say(says('my secret-1'))
    await session.until(2)
    session.say(says('binary'))
    await session.until(3)
    session.say(says('end'))
    await session.closed
  })
  await record(RESPONSES, async session => {
    for (const [index, input] of ['one', 'two'].entries()) {
      session.say(turn(input))
      await session.until(index + 1)
    }
  })
  await proxy.close()
  upstream.close()
})

const replays: Replay[] = []
afterEach(async () => {
  for (const replay of replays.splice(0)) await replay.close()
})

async function opened(options: Partial<ReplayOptions> = {}): Promise<Replay> {
  const replay = await openReplay({ recordings: readFolder(folder), ...options })
  replays.push(replay)
  return replay
}

const created = (number: number): string => JSON.stringify({ type: 'session.created', number })
const answered = (to: string): string => JSON.stringify({ type: 'answer', to, key: '[redacted]' })

describe('a recorded realtime session', () => {
  test('is replayed: event ids and chunks of sound do not count, events come at their place in the sound', async () => {
    const replay = await opened()
    const session = new Session(replay.url, REALTIME)
    expect(await session.until(1)).toEqual([created(1)])
    session.say(says('hello', 'another id'))
    expect(await session.until(2)).toEqual([created(1), answered('hello')])
    session.say(append('abc'))
    session.say(append('de'))
    expect((await session.until(3)).at(-1)).toBe('{"type":"speech_started"}')
    session.say(append('fgh'))
    expect((await session.until(4)).at(-1)).toBe('{"type":"speech_stopped"}')
    await session.end()
    expect(replay.misses).toEqual([])
    expect(replay.unused).toHaveLength(3)
  })

  test('is replayed in the order of recording, each scope for itself, the last one again', async () => {
    const replay = await opened()
    const firstOf = async (scope: string): Promise<string> => {
      const session = new Session(replay.url, REALTIME, { [SCOPE]: scope })
      await session.until(1)
      session.say(says('hello'))
      const [first] = await session.until(2)
      await session.end()
      return first!
    }
    expect([await firstOf('a'), await firstOf('a')]).toEqual([created(1), created(2)])
    expect(await firstOf('b')).toBe(created(1))
    expect(replay.unused).toHaveLength(2)
  })

  test('is found by its messages, its secrets redacted; frames are binary and closed as recorded', async () => {
    const replay = await opened()
    const session = new Session(replay.url, REALTIME)
    await session.until(1)
    session.say(says('my secret-99'))
    expect((await session.until(2)).at(-1)).toBe(answered('my [redacted]'))
    session.say(says('binary'))
    expect((await session.until(3)).at(-1)).toBe(answered('binary'))
    expect(session.got.map(({ isBinary }) => isBinary)).toEqual([false, false, true])
    session.say(says('end'))
    expect(await session.closed).toEqual({ code: 4001, reason: 'done' })
  })

  test('gets every answer before it is closed, even if the caller sends everything at once', async () => {
    const { url } = await opened()
    const session = new Session(url, REALTIME)
    for (const text of ['my secret-1', 'binary', 'end']) session.say(says(text))
    expect(await session.closed).toEqual({ code: 4001, reason: 'done' })
    expect(session.got).toHaveLength(3)
  })

  test('with another message fails loudly with the nearest session and a diff', async () => {
    const replay = await opened()
    const session = new Session(replay.url, REALTIME)
    await session.until(1)
    session.say(says('good bye'))
    const { error } = JSON.parse((await session.until(2)).at(-1)!) as { error: { code: string; message: string } }
    expect(error.code).toBe('no_recording')
    expect(error.message).toMatch(
      /^No recorded session of \/v1\/realtime has this message\. The nearest is .+\.json; it differs in:\n- text: "hello"\n\+ text: "good bye"$/,
    )
    expect(await session.closed).toEqual({ code: 1008, reason: 'no recording' })
    expect(replay.misses).toEqual([error.message])
  })

  test('with other sound fails', async () => {
    const replay = await opened()
    const session = new Session(replay.url, REALTIME)
    session.say(says('hello'))
    await session.until(2)
    session.say(append('xy'))
    expect((await session.until(3)).at(-1)).toContain('+ audio: \\"other bytes\\"')
  })

  test('of another address is refused', async () => {
    const replay = await opened()
    const session = new Session(replay.url, '/v1/realtime?model=other')
    await expect(session.closed).rejects.toThrow('404')
    expect(replay.misses).toEqual(['No recorded session matches GET /v1/realtime.'])
  })

  test.each([
    ['a code that no close frame can hold', { code: 2000 }, { code: 1000, reason: 'done' }],
    ['a reason that is too long', { reason: 'é'.repeat(100) }, { code: 4001, reason: 'é'.repeat(61) }],
  ])('with %s, which a file may state, is closed and leaves the server running', async (_, change, expected) => {
    const recordings = readFolder(folder).map(({ file, recording }) => {
      const { session } = recording
      const closed = session?.closed && { ...session.closed, ...change }
      return { file, recording: { ...recording, ...(closed && { session: { ...session, closed } }) } }
    })
    const { url } = await opened({ recordings })
    const session = new Session(url, REALTIME)
    for (const text of ['my secret-1', 'binary', 'end']) session.say(says(text))
    expect(await session.closed).toEqual(expected)
  })

  test('waits as recorded if asked to', async () => {
    const recordings = readFolder(folder).map(one => {
      const { session } = one.recording
      const frames = session?.frames.map((frame, index) => ({ ...frame, ms: index * 60 }))
      return { ...one, recording: { ...one.recording, ...(frames && { session: { ...session, frames } }) } }
    })
    const replay = await opened({ recordings, speed: 1 })
    const session = new Session(replay.url, REALTIME)
    await session.until(1)
    const began = performance.now()
    session.say(says('hello'))
    await session.until(2)
    expect(performance.now() - began).toBeGreaterThan(50)
  })
})

test('a recorded Responses session is replayed; the spelling of a turn does not count', async () => {
  const replay = await opened()
  const session = new Session(replay.url, RESPONSES)
  session.say({
    type: 'response.create',
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'one' }] }],
    model: 'm',
  })
  expect(await session.until(1)).toEqual([answered('one')])
  session.say(turn('three'))
  expect((await session.until(2)).at(-1)).toContain('+ messages.0.content.0.text: \\"three\\"')
})

test('a session without a recording passes to the upstream and is recorded', async () => {
  const source = await opened()
  const again = mkdtempSync(join(tmpdir(), 'sessions-'))
  const record = { folder: again, warn: (message: string) => expect.fail(message) }
  const replay = await opened({ recordings: [], onMiss: { upstream: source.url, record } })
  for (let time = 0; time < 2; time++) {
    const session = new Session(replay.url, RESPONSES, { [SCOPE]: String(time) })
    session.say(turn('one'))
    expect(await session.until(1)).toEqual([answered('one')])
    await session.end()
    await expect.poll(() => readFolder(again).length).toBe(1)
  }
})

import { afterEach, describe, expect, test, vi } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import type { Transducer } from '../../src/canonical/transducer.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import type { EventWriter, Writer } from '../../src/egress/writer.ts'
import { READERS } from '../../src/ingress/index.ts'
import type { Reader } from '../../src/ingress/reader.ts'
import { events, HEAD, TAIL, words } from '../builders/chat.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { Client } from '../sockets/client.ts'
import { STREAMED } from './streams.ts'

/*
 * Bugs of the gateway in the middle of a stream end it as its format requires. They are logged and not reported to the
 * caller.
 */

afterEach(() => void vi.restoreAllMocks())
const { closing, open: openBefore } = opener()

const TOLD = 'The gateway failed to handle this request.'
const BUG = 'a secret of the machine'

/** Returns a machine that fails at a certain input, from then on always or only once. */
function failing<I, O>(made: Transducer<I, O>, when: (said: I) => boolean, once: boolean): Transducer<I, O> {
  let broken = false
  return {
    push: said => {
      if ((broken && !once) || (!broken && when(said))) {
        broken = true
        throw new TypeError(BUG)
      }
      return made.push(said)
    },
    end: () => made.end(),
  }
}

/** Returns a test for the second event of an upstream's stream. */
const isSecond = () => {
  let deltas = 0
  return (event: CanonicalEvent): boolean => event.type === 'part-delta' && event.append.length > 0 && ++deltas === 2
}

const chat = (text: string) => (response: Parameters<typeof events>[0]) =>
  events(response).end(`${HEAD}${words('Hel')}${words(text)}${TAIL}`)

const open = async (format = 'chat') => (await openBefore(chat('lo.'), {}, { format })).testServer

const TEXTS = Object.entries(STREAMED).filter(([, { format }]) => format === 'chat')

const writerOf = (path: string): Writer & Required<Pick<Writer, 'events'>> => {
  const format = path.includes('contents') || path.includes('v1beta') ? 'contents' : nameOf(path)
  return WRITERS[format] as Writer & Required<Pick<Writer, 'events'>>
}
const nameOf = (path: string): string =>
  path === '/v1/chat/completions' ? 'chat' : path.slice('/v1/'.length).replace(/\?.*/, '')

/** Makes the next writer fail. The writer of the upstream's own format then writes events anew. */
function breakWriter(path: string, broken: (sound: EventWriter) => EventWriter): void {
  const writer = writerOf(path)
  const { events, nativeEvents: ownEvents } = writer
  if (path !== '/v1/chat/completions') {
    vi.spyOn(writer, 'events').mockImplementationOnce(asked => broken(events(asked)))
    return
  }
  vi.spyOn(writer, 'nativeEvents').mockImplementationOnce(asked => {
    const failing = broken(ownEvents!(asked))
    return { push: failing.push, end: failing.end, relay: (_, read) => read.flatMap(event => failing.push(event)) }
  })
}

function expectLogged(testServer: TestServer): void {
  const faults = testServer.lines.filter(({ level }) => level === 'error')
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatchObject({ message: 'a fault of the gateway', fields: { err: { message: BUG } } })
  expect(testServer.lines.at(-1)!.fields).toMatchObject({ status: 200, error: 'internal', id: faults[0]!.fields['id'] })
}

describe.each(TEXTS)('a stream of %s', (_, door) => {
  test.each([
    ['once', true],
    ['for good', false],
  ])('whose writer fails %s', async (_, once) => {
    // The writer of the last events must work.
    breakWriter(door.path, sound => failing(sound, isSecond(), once))
    const testServer = await open()
    const { status, text } = await testServer.ask(door.path, door.body, { headers: door.headers ?? {} })
    expect(status).toBe(200)
    expect(text).toContain('Hel')
    expect(text).not.toContain(BUG)
    expect(door.error(text)).toBe(TOLD)
    expectLogged(testServer)
  })

  test('whose reader fails', async () => {
    const reader = READERS['chat'] as Required<Pick<Reader, 'events'>>
    const events = reader.events
    const isBad = ({ data }: WireEvent): boolean => data.includes('lo.')
    vi.spyOn(reader, 'events').mockImplementation(asked => failing(events(asked), isBad, false))
    const testServer = await open()
    const { text } = await testServer.ask(door.path, door.body, { headers: door.headers ?? {} })
    expect(text).toContain('Hel')
    expect(door.error(text)).toBe(TOLD)
    expectLogged(testServer)
  })
})

test('a turn on a socket fails, and the next one does not', async () => {
  breakWriter('/v1/responses', sound => failing(sound, isSecond(), false))
  const testServer = await open()
  const client = await Client.open(testServer.server.address)
  closing.push(() => client.socket.terminate())
  const failed = await client.turn({ input: 'Hi' })
  expect(failed.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { message: TOLD } } })
  expect((await client.turn({ input: 'Hi' })).at(-1).type).toBe('response.completed')
})

test('before anything is sent it is a 500', async () => {
  breakWriter('/v1/chat/completions', () => ({
    push: () => {
      throw new TypeError(BUG)
    },
    end: () => [],
  }))
  const testServer = await open()
  const door = STREAMED['chat']!
  const { json, status } = await testServer.ask(door.path, door.body)
  expect(status).toBe(500)
  expect(json.error.message).toBe(TOLD)
  expect(testServer.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
})

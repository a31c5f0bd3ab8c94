import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UsageRecorder } from '../../src/gateway/usage-recorder.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { configOf, keyOf, REALTIME, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { type Connection, channelTo, created, ScriptedUpstream } from './upstream.ts'

/** Both sides of an open session, and the gateway between them. */
interface Sides {
  readonly caller: Client
  readonly upstream: Connection
  readonly gateway: TestServer
  readonly scripted: ScriptedUpstream
}

/** A close code, or the code and reason. */
type Close = number | { readonly code: number; readonly reason: string }

interface Ending {
  readonly options?: TestServerOptions
  act(sides: Sides): unknown
  /** The close frame that each side gets; absent for a side that closes or breaks the connection itself. */
  readonly caller?: Close
  readonly upstream?: Close
  /** Code of the `error` event that the caller gets; none by default. */
  readonly event?: string
  /** Close code and error of the log line; the usage row has the same error. */
  readonly code: number
  readonly error?: string
}

const realtime = (more: Partial<typeof REALTIME>): TestServerOptions => ({
  config: { realtime: { ...REALTIME, ...more } },
})

const BEATING = { heartbeat: 60 }
const LOST = 'upstream_failed'
const SLOW = { code: 1013, reason: 'the client reads too slowly' }

/** Makes a socket leave pings unanswered. */
const muted = ({ socket }: Client | Connection): void => void Object.assign(socket, { pong: () => {} })

const AUDIO = Buffer.alloc(30_000).toString('base64')
const at = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 }
const item = { id: 'i', type: 'message', role: 'assistant', content: [] }

/** Sends spoken output as long as the gateway reads it. */
async function speak({ upstream }: Sides): Promise<void> {
  upstream.send({ type: 'response.created', response: { id: 'r' } })
  upstream.send({ type: 'response.output_item.added', response_id: 'r', output_index: 0, item })
  while (upstream.socket.readyState === upstream.socket.OPEN)
    if (upstream.socket.bufferedAmount < 2 ** 20)
      upstream.send({ type: 'response.output_audio.delta', ...at, delta: AUDIO })
    else await pause(5)
}

/** Sends spoken input as long as the gateway reads it. */
async function listen({ caller }: Sides): Promise<void> {
  while (caller.socket.readyState === caller.socket.OPEN)
    if (caller.socket.bufferedAmount < 2 ** 20) caller.send({ type: 'input_audio_buffer.append', audio: AUDIO })
    else await pause(5)
}

const ENDINGS: { readonly [name: string]: Ending } = {
  'the caller closes with a code': {
    act: ({ caller }) => caller.socket.close(4001, 'enough'),
    upstream: { code: 4001, reason: 'enough' },
    code: 4001,
  },
  'the caller closes without a code': { act: ({ caller }) => caller.socket.close(), upstream: 1000, code: 1000 },
  'the caller resets the connection': { act: ({ caller }) => caller.socket.terminate(), upstream: 1001, code: 1001 },
  'the upstream closes with a code': {
    act: ({ upstream }) => upstream.socket.close(4000, 'because'),
    ...{ caller: { code: 4000, reason: 'because' }, event: LOST, code: 4000, error: 'upstream-failed' },
  },
  'the upstream says why and closes': {
    act({ upstream }) {
      upstream.send({ type: 'error', error: { type: 'server_error', code: 'no_capacity', message: 'There is none.' } })
      upstream.socket.close(4000, 'because')
    },
    ...{ caller: { code: 4000, reason: 'because' }, event: 'no_capacity', code: 4000, error: 'upstream-failed' },
  },
  'the upstream closes normally': { act: ({ upstream }) => upstream.socket.close(1000), caller: 1000, code: 1000 },
  'the upstream closes without a code': { act: ({ upstream }) => upstream.socket.close(), caller: 1000, code: 1000 },
  'the upstream resets the connection': {
    act: ({ upstream }) => upstream.socket.terminate(),
    ...{ caller: 1011, event: LOST, code: 1011, error: 'upstream-failed' },
  },
  'nothing is said for too long': {
    options: realtime({ idle: 60 }),
    act: () => {},
    ...{ caller: { code: 1000, reason: 'session_idle' }, upstream: { code: 1000, reason: 'session_idle' } },
    ...{ event: 'session_idle', code: 1000 },
  },
  'the session lasts too long': {
    options: realtime({ lifetime: 150 }),
    act: () => {},
    ...{ caller: { code: 1001, reason: 'session_expired' }, upstream: { code: 1001, reason: 'session_expired' } },
    ...{ event: 'session_expired', code: 1001 },
  },
  'the gateway shuts down': {
    act: ({ gateway }) => gateway.server.close(1000),
    ...{ caller: { code: 1001, reason: 'server_shutdown' }, upstream: { code: 1001, reason: 'server_shutdown' } },
    ...{ event: 'server_shutdown', code: 1001 },
  },
  'the key is revoked': {
    act: ({ gateway, scripted }) =>
      gateway.server.reload({ ...configOf([channelTo(scripted)]), keys: [keyOf('another-key', 'another')] }),
    ...{ caller: 1008, upstream: 1008, event: 'invalid_api_key', code: 1008 },
  },
  'the caller takes nothing': {
    options: BEATING,
    act(sides) {
      sides.caller.socket.pause()
      return speak(sides)
    },
    ...{ upstream: SLOW, code: 1013 },
  },
  'the caller takes nothing but sends': {
    options: BEATING,
    act(sides) {
      sides.caller.socket.pause()
      return Promise.all([speak(sides), listen(sides)])
    },
    ...{ upstream: SLOW, code: 1013 },
  },
  'more waits for the caller than the limit': {
    options: realtime({ buffer: 100_000 }),
    act(sides) {
      sides.caller.socket.pause()
      return speak(sides)
    },
    ...{ upstream: SLOW, code: 1013 },
  },
  'the upstream takes nothing': {
    options: BEATING,
    act(sides) {
      sides.upstream.socket.pause()
      return listen(sides)
    },
    ...{ caller: 1011, event: LOST, code: 1011, error: 'upstream-failed' },
  },
  'the caller answers no ping': { options: BEATING, act: ({ caller }) => muted(caller), upstream: 1001, code: 1001 },
  'the upstream answers no ping': {
    options: BEATING,
    act: ({ upstream }) => muted(upstream),
    ...{ caller: 1011, event: LOST, code: 1011, error: 'upstream-failed' },
  },
  'a frame of the caller is too large': {
    options: realtime({ message: 50_000 }),
    act: ({ caller }) => caller.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(60_000) }),
    ...{ caller: 1009, upstream: 1001, code: 1001 },
  },
  'a frame of the upstream is too large': {
    options: realtime({ message: 50_000 }),
    act: ({ upstream }) => upstream.send({ type: 'rate_limits.updated', rate_limits: [], padding: 'A'.repeat(60_000) }),
    ...{ caller: 1011, upstream: 1009, event: LOST, code: 1011, error: 'upstream-failed' },
  },
}

const ROWS: UsageRow[] = []
let sides: Sides | undefined

beforeEach(() => {
  ROWS.length = 0
  const { take } = UsageRecorder.prototype
  vi.spyOn(UsageRecorder.prototype, 'take').mockImplementation(function (this: UsageRecorder, row) {
    ROWS.push(row)
    take.call(this, row)
  })
})

afterEach(async () => {
  vi.restoreAllMocks()
  sides?.caller.socket.terminate()
  await sides?.gateway.server.close(0)
  await sides?.scripted.close()
  sides = undefined
})

async function open(headers: { readonly [name: string]: string }, options: TestServerOptions = {}): Promise<Sides> {
  const scripted = await ScriptedUpstream.open(connection => {
    connection.send(created())
    connection.send({ ...created(), type: 'session.updated' })
  })
  const gateway = await TestServer.open([channelTo(scripted)], options)
  const caller = await Client.open(gateway.server.address, headers, '/v1/realtime?model=voice')
  sides = { caller, upstream: scripted.connections[0]!, gateway, scripted }
  return sides
}

const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
const codeOf = (close: Close | undefined): number | undefined => (typeof close === 'object' ? close.code : close)
const reasonOf = (close: Close | undefined): string | undefined =>
  typeof close === 'object' ? close.reason : undefined

/** Relayed frame by frame, and translated through canonical events. */
const PATHS = [
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const

describe.each(PATHS)('%s', TIMED, (_, headers) => {
  it.each(Object.entries(ENDINGS))('%s', async (_, ending) => {
    const open_ = await open(headers, ending.options)
    const { caller, upstream, gateway, scripted } = open_
    await until(() => caller.events.length > 0)
    const running = timers()
    const acted = Promise.resolve(ending.act(open_))
    const lines = () => gateway.lines.filter(({ message }) => message === 'session')
    await until(() => lines().length > 0)
    caller.socket.resume()
    upstream.socket.resume()
    await until(() => caller.closed !== undefined && upstream.closed !== undefined && scripted.open === 0)
    await acted
    if (ending.caller !== undefined) expect(caller.closed).toBe(codeOf(ending.caller))
    if (reasonOf(ending.caller) !== undefined) expect(caller.reason).toBe(reasonOf(ending.caller))
    if (ending.upstream !== undefined) expect(upstream.closed!.code).toBe(codeOf(ending.upstream))
    if (reasonOf(ending.upstream) !== undefined) expect(upstream.closed!.reason).toBe(reasonOf(ending.upstream))
    const errors = caller.events.filter(({ type }) => type === 'error').map(({ error }) => error.code)
    expect(errors).toEqual(ending.event === undefined ? [] : [ending.event])
    expect(lines().map(({ fields }) => [fields['close_code'], fields['error']])).toEqual([[ending.code, ending.error]])
    expect(ROWS.map(({ status, error }) => [status, error])).toEqual([[101, ending.error]])
    // The session's own timers are gone: heartbeats of both sides, lifetime and idle time.
    await until(() => timers() <= running - 4)
  })
})

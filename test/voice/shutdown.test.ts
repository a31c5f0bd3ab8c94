import { afterEach, expect, it } from 'vitest'
import { KEY, REALTIME, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { TIMED, until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { CLIENT, playing, SPOKEN_TURN } from './sessions.ts'
import { channelTo, type Script, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstream: ScriptedUpstream | undefined

afterEach(async () => {
  await testServer?.server.close(0)
  const faults = testServer?.lines.filter(({ level }) => level === 'error') ?? []
  testServer = undefined
  await upstream?.close()
  expect(faults).toEqual([])
})

async function open(script: Script, options: TestServerOptions = {}): Promise<ScriptedUpstream> {
  upstream = await ScriptedUpstream.open(script)
  const config = { realtime: { ...REALTIME, sessions: { key: 1000, all: 1000 } } }
  testServer = await TestServer.open([channelTo(upstream)], { config, ...options })
  return upstream
}

const BETA = { 'openai-beta': 'realtime=v1', authorization: `Bearer ${KEY}` }
const headersOf = (index: number) => (index % 2 === 0 ? {} : BETA)
const client = (index: number) => Client.open(testServer!.server.address, headersOf(index), '/v1/realtime?model=voice')

/** Plays up to a position and stops there. Before the first position, the session is not even created. */
const stayingAt =
  (next: () => number): Script =>
  async connection => {
    const at = next()
    if (at >= 0) await playing(SPOKEN_TURN.slice(0, at))(connection)
  }

it('fifty sessions in every phase end within the grace time, each with its last words', TIMED, async () => {
  let count = 0
  const up = await open(stayingAt(() => (count++ % (SPOKEN_TURN.length + 1)) - 1))
  const callers: Client[] = []
  const refused: number[] = []
  for (let index = 0; index < 50; index++)
    void client(index).then(
      caller => {
        callers.push(caller)
        for (const event of CLIENT) caller.send(event)
      },
      thrown => refused.push(thrown.status ?? 0),
    )
  await until(() => up.connections.length === 50)
  // Most sessions have reached their position. Some callers disconnect at this moment.
  await new Promise(resolve => setTimeout(resolve, 200))
  callers[0]?.socket.terminate()
  const began = performance.now()
  await testServer!.server.close(300)
  expect(performance.now() - began).toBeLessThan(5000)
  await until(() => callers.every(({ closed }) => closed !== undefined) && callers.length + refused.length === 50)
  expect(up.open).toBe(0)
  for (const caller of callers.slice(1)) {
    expect(caller.closed).toBe(1001)
    expect(caller.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'server_shutdown' } })
  }
  expect(new Set(refused)).toEqual(new Set([503]))
})

it('nothing is left after sessions that end at any moment, by either side', TIMED, async () => {
  let seed = 7
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  const up = await open(async connection => {
    const by = random(4)
    if (by === 0) setTimeout(() => connection.socket.terminate(), random(30))
    if (by === 1) setTimeout(() => connection.socket.close(4000, 'x'), random(30))
    await playing(SPOKEN_TURN)(connection)
  })
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const one = async (index: number): Promise<void> => {
    const caller = await client(index).catch(() => undefined)
    if (caller === undefined) return
    for (const event of CLIENT) if (random(3) > 0) caller.send(event)
    await new Promise(resolve => setTimeout(resolve, random(30)))
    if (random(2) === 0) caller.socket.terminate()
    else caller.socket.close()
    await until(() => caller.closed !== undefined)
  }
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)))
  await until(() => up.open === 0)
  await until(() => testServer!.lines.filter(({ message }) => message === 'session').length === 500)
  await until(() => timers() <= before + 2)
})

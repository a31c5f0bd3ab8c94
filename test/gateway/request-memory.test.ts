import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { estimatedMemory, RequestMemory } from '../../src/gateway/request-memory.ts'
import { ANSWER, ASK, failure, json } from '../builders/chat.ts'
import { channelAt, KEY, keyOf, OTHER_KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { SOON, TIMED, until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'

afterEach(() => void vi.restoreAllMocks())
const { closing, openGateway, openUpstream } = opener()
const MIB = 2 ** 20

const bodyOf = (messages: object): Buffer => Buffer.from(JSON.stringify({ model: 'm', messages }))
const repeated = (one: object, size: number): object[] =>
  Array.from({ length: Math.ceil(size / JSON.stringify(one).length) }, () => one)

describe('the estimated memory of a request', () => {
  /** Small pieces, which take fifteen to thirty times their text, and texts, which take about twice. */
  test.each<[name: string, messages: object, least: number, most: number]>([
    ['tiny messages', repeated({ role: 'user', content: 'x' }, MIB), 15, 32],
    ['tiny parts', [{ role: 'user', content: repeated({ type: 'text', text: 'x' }, MIB) }], 15, 32],
    ['empty lists', [{ role: 'user', content: 'x', a: repeated([], MIB) }], 40, 100],
    ['numbers', [{ role: 'user', content: 'x', a: Array.from({ length: MIB / 5 }, () => 1234) }], 4, 7],
    ['a text', [{ role: 'user', content: 'Some words. '.repeat(MIB / 12) }], 2, 2.5],
    ['a text of JSON', [{ role: 'user', content: JSON.stringify(repeated({ a: [1] }, MIB / 2)) }], 2, 2.5],
    ['a text of code', [{ role: 'user', content: 'f({ a: [1, 2], "b": c }),\n'.repeat(MIB / 24) }], 2, 2.5],
    ['base64', [{ role: 'user', content: Buffer.alloc(MIB, 7).toString('base64') }], 2, 2.5],
    ['turns of an agent', repeated({ role: 'user', content: 'const a = [1, 2, 3]\n'.repeat(20) }, MIB), 2, 6],
  ])('of %s is that of its structure, not of its text', (_, messages, least, most) => {
    const body = bodyOf(messages)
    for (let count = 0; count < 20; count++) {
      const factor = estimatedMemory(body) / body.length
      expect(factor).toBeGreaterThanOrEqual(least)
      expect(factor).toBeLessThanOrEqual(most)
    }
  })
})

describe('requests in memory', () => {
  const text = (size: number): Buffer => Buffer.alloc(size, 'x')

  test('never take more than their limit, leave room for other keys, and give back everything', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ key: fc.constantFrom('a', 'b'), size: fc.integer({ min: 1, max: 600_000 }), ends: fc.nat(9) }),
          { maxLength: 60 },
        ),
        steps => {
          const memory = new RequestMemory(2_000_000)
          const open: { release(): void }[] = []
          for (const { key, size, ends } of steps) {
            for (const hold of open.splice(0, ends)) {
              hold.release()
              hold.release()
            }
            try {
              const hold = memory.open(key, text(size))
              if (hold !== undefined) open.push(hold)
            } catch (thrown) {
              expect((thrown as GatewayError).error.kind).toBe('overloaded')
            }
            expect(memory.bytes).toBeLessThanOrEqual(2_000_000)
          }
          for (const hold of open) hold.release()
          expect(memory.bytes).toBe(0)
        },
      ),
    )
    const memory = new RequestMemory(2_000_000)
    const fill = (key: string): void => {
      while (true) memory.open(key, text(100_000))
    }
    expect(() => fill('a')).toThrow(GatewayError)
    expect(memory.bytes).toBeLessThanOrEqual(1_100_000)
    expect(memory.open('b', text(100_000))).toBeDefined()
    expect(() => memory.open('c', text(1_100_000))).toThrow('too many parts')
  })

  test('include the stored items that they continue, which count at least as much as their text would', () => {
    for (const item of [
      { role: 'user', content: 'x' },
      { text: 'Some words. '.repeat(1000) },
      { a: [1, null, [{}]] },
    ]) {
      const items = repeated(item, MIB) as JsonObject[]
      const memory = new RequestMemory(2 ** 40)
      const held = memory.open('a', items)!
      const body = estimatedMemory(bodyOf(items))
      expect(held.bytes).toBeGreaterThan(body / 2)
      expect(held.bytes).toBeLessThan(body * 2)
      const both = memory.open('a', text(MIB), held)!
      expect(memory.bytes).toBe(both.bytes)
      expect(both.bytes).toBeGreaterThan(held.bytes + MIB)
      both.release()
      expect(memory.bytes).toBe(0)
    }
    const memory = new RequestMemory(2_000_000)
    const held = memory.open('a', text(100_000))!
    expect(memory.open('a', [{ role: 'user', content: 'x' }], held)).toBe(held)
    expect(() => memory.open('a', [{ text: 'x'.repeat(850_000) }], held)).toThrow('Try again later')
    expect(() => memory.open('a', [{ text: 'x'.repeat(950_000) }], held)).toThrow('too many parts')
    expect(memory.bytes).toBe(held.bytes)
  })
})

describe('a gateway', TIMED, () => {
  const LARGE = { ...ASK, messages: repeated({ role: 'user', content: 'x' }, MIB / 4) }
  const TEXT = JSON.stringify(LARGE)
  const OTHER = { headers: { authorization: `Bearer ${OTHER_KEY}` } }

  /** A gateway with memory for two such requests, and an upstream that answers them only when it is told to. */
  async function scene() {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(30 * MIB)
    const waiting: ServerResponse[] = []
    const upstream = await openUpstream((response, { text: sent }) => {
      if (sent.length < 1000) json(response, ANSWER)
      else waiting.push(response)
    })
    const keys = [keyOf(KEY, 'dev'), keyOf(OTHER_KEY, 'other')]
    const gateway = await openGateway([channelAt(upstream.address)], { config: { keys } })
    return { gateway, waiting }
  }

  test('refuses requests for which it has no memory, and serves all others', async () => {
    const { gateway, waiting } = await scene()
    const held = gateway.ask(CHAT_PATH, TEXT)
    await until(() => waiting.length === 1)
    const refused = await gateway.ask(CHAT_PATH, TEXT)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    expect((await gateway.ask(CHAT_PATH, ASK)).status).toBe(200)
    const other = gateway.ask(CHAT_PATH, TEXT, OTHER)
    await until(() => waiting.length === 2)
    for (const response of waiting) json(response, ANSWER)
    expect([(await held).status, (await other).status]).toEqual([200, 200])
    expect((await gateway.ask(CHAT_PATH, `${'['.repeat(MIB)}`)).status).toBe(413)
  })

  test.each<[name: string, run: (gateway: TestServer, waiting: ServerResponse[]) => Promise<unknown>]>([
    ['is answered', (gateway, waiting) => answered(gateway, waiting, response => json(response, ANSWER))],
    ['fails', (gateway, waiting) => answered(gateway, waiting, response => json(response, failure('No.'), 400))],
    ['is cut', (gateway, waiting) => answered(gateway, waiting, response => response.destroy())],
    ['is no JSON', gateway => gateway.ask(CHAT_PATH, `${TEXT}]`)],
    ['has an unknown model', gateway => gateway.ask(CHAT_PATH, { ...LARGE, model: 'absent' })],
    ['is wrong', gateway => gateway.ask(CHAT_PATH, { ...LARGE, temperature: 'hot' })],
    [
      'is left by its caller',
      async (gateway, waiting) => {
        const { out, answer } = gateway.send(CHAT_PATH, TEXT)
        answer.catch(() => {})
        await until(() => waiting.length === 1)
        out.destroy()
      },
    ],
  ])('has its memory again when a request %s', async (_, run) => {
    const { gateway, waiting } = await scene()
    await run(gateway, waiting)
    const before = waiting.length
    const next = gateway.ask(CHAT_PATH, TEXT)
    await until(() => waiting.length === before + 1)
    json(waiting.at(-1)!, ANSWER)
    expect((await next).status).toBe(200)
  })

  test('counts turns of a socket, also those that wait, until they are answered or dropped', async () => {
    const { gateway, waiting } = await scene()
    const turnOf = (fields: object): string => JSON.stringify({ type: 'response.create', model: 'm', ...fields })
    const turn = turnOf({ input: repeated({ role: 'user', content: 'x' }, MIB / 4) })
    const open = () => Client.open(gateway.server.address)
    const [one, other] = [await open(), await open()]
    one.send(turn)
    await until(() => waiting.length === 1)
    other.send(turn)
    await until(() => other.events.length === 1)
    expect(other.events[0].error.code).toBe('server_is_overloaded')
    other.send(turnOf({ input: 'Short.', generate: false }))
    await until(() => other.events.some(({ type }) => type === 'response.completed'))
    one.socket.terminate()
    await until(() => waiting[0]!.destroyed)
    other.send('x'.repeat(MIB / 4))
    other.send(turn)
    await until(() => waiting.length === 2)
    other.socket.terminate()
    await until(() => waiting[1]!.destroyed)
    expect((await gateway.ask(CHAT_PATH, `${'['.repeat(MIB)}`)).status).toBe(413)
    const next = gateway.ask(CHAT_PATH, TEXT)
    await until(() => waiting.length === 3)
    json(waiting[2]!, ANSWER)
    expect((await next).status).toBe(200)
  })

  test('counts the stored history that a short turn continues', async () => {
    const { gateway, waiting } = await scene()
    const client = await Client.open(gateway.server.address)
    const turn = (fields: object): void =>
      client.send(JSON.stringify({ type: 'response.create', model: 'm', ...fields }))
    const completed = () => client.events.filter(({ type }) => type === 'response.completed')
    turn({ input: repeated({ role: 'user', content: 'x' }, MIB / 4), generate: false })
    await until(() => completed().length === 1)
    turn({ input: 'Go on.', previous_response_id: completed()[0].response.id })
    await until(() => waiting.length === 1)
    expect((await gateway.ask(CHAT_PATH, TEXT)).status).toBe(503)
    json(waiting[0]!, ANSWER)
    await until(() => completed().length === 2 || client.events.some(({ type }) => type === 'error'))
    const next = gateway.ask(CHAT_PATH, TEXT)
    await until(() => waiting.length === 2)
    json(waiting[1]!, ANSWER)
    expect((await next).status).toBe(200)
    client.socket.terminate()
  })

  test('counts an answer until a slow caller has read it or is gone', async () => {
    vi.spyOn(process, 'constrainedMemory').mockReturnValue(150 * MIB)
    const upstream = await openUpstream(response => json(response, ANSWER))
    const folder = mkdtempSync(join(tmpdir(), 'memory-'))
    closing.push(async () => rmSync(folder, { recursive: true, force: true }))
    const gateway = await openGateway([channelAt(upstream.address)], { keep: folder, body: 32 * MIB })
    const stored = await gateway.ask('/v1/responses', { model: 'm', input: 'x'.repeat(16 * MIB) })
    const path = `/v1/responses/${stored.json.id}/input_items`
    const get = () => gateway.send(path, undefined, { method: 'GET' }).answer
    const slow = await get()
    expect(slow.statusCode).toBe(200)
    const refused = await get()
    expect(refused.statusCode).toBe(503)
    slow.destroy()
    await vi.waitUntil(async () => (await get()).statusCode === 200, SOON)
  })

  async function answered(gateway: TestServer, waiting: ServerResponse[], answer: (response: ServerResponse) => void) {
    const asked = gateway.ask(CHAT_PATH, TEXT)
    await until(() => waiting.length === 1)
    answer(waiting[0]!)
    await asked
  }
})

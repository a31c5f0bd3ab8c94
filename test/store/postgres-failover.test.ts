import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { Kysely, sql } from 'kysely'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { SILENT } from '../../src/log.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { postgres as engineOf } from '../../src/store/postgres.ts'
import { postgresFault } from '../../src/store/postgres-fault.ts'
import type { Turn } from '../../src/store/turns.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres, postgres } from '../builders/postgres.ts'
import { pause, TIMED } from '../builders/time.ts'
import { HOUR } from '../builders/units.ts'

/*
 * A failover of PostgreSQL: for a moment, the address leads to a standby, or to a pooler without a server. Connections
 * to the standby stay open after the address leads to the new primary.
 */

const closing = closingAfterEach()

const OWNED = { owner: 'me', createdAt: Date.now(), expiresAt: Date.now() + HOUR }

const turn = (id: string): Turn => ({ ...OWNED, id, response: { id, output: [] }, input: [] })

test.skipIf(noPostgres)(
  'a store that was connected to a standby writes again, and reads meanwhile',
  TIMED,
  async () => {
    const { run } = await postgres()
    const { url, drop } = await freshDatabase()
    closing.push(drop)
    const name = new URL(url).pathname.slice(1)
    const store = new LazyStore({ engine: 'postgres', url }, tmpdir(), SILENT)
    closing.push(() => store.close())
    await store.turns.put(turn('before'))
    await run(`alter database "${name}" set default_transaction_read_only = on`)
    await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    for (let tries = 0; (await store.check()) !== 'read-only' && tries < 100; tries++) await pause(50)
    expect(await store.check()).toBe('read-only')
    await expect(store.turns.put(turn('refused'))).rejects.toThrow('unavailable')
    expect(await store.turns.find('me', 'before')).toMatchObject({ id: 'before' })
    // New connections reach a primary. Those that are open stay read-only.
    await run(`alter database "${name}" reset default_transaction_read_only`)
    for (let tries = 0; (await store.check()) !== undefined && tries < 160; tries++) await pause(50)
    expect(await store.check()).toBeUndefined()
    await store.turns.put(turn('after'))
    expect(await store.turns.find('me', 'after')).toMatchObject({ id: 'after' })
    expect(await store.turns.find('me', 'refused')).toBeUndefined()
  },
)

/** Replaces the process id that the server states, as poolers do. */
function withOwnProcessId(bytes: Buffer | string): Buffer | string {
  const at = bytes.indexOf('K\0\0\0\x0c')
  if (at >= 0 && typeof bytes !== 'string') bytes.writeInt32BE(1, at + 5)
  return bytes
}

/** Forwards connections to a port. While it is cut, it closes them at their first statement. */
async function poolerTo(port: number) {
  const sockets = new Set<Socket>()
  const pooler = { port: 0, isCut: false }
  const server = createServer(caller => {
    const upstream = connect(port, '127.0.0.1')
    const end = () => [caller, upstream].forEach(socket => void socket.destroy())
    for (const socket of [caller, upstream]) sockets.add(socket.on('error', end).on('close', end))
    upstream.on('data', bytes => caller.write(withOwnProcessId(bytes)))
    caller.on('data', bytes => {
      const isStatement = bytes[0] === 'Q'.charCodeAt(0) || bytes[0] === 'P'.charCodeAt(0)
      if (pooler.isCut && isStatement) end()
      else upstream.write(bytes)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  pooler.port = (server.address() as AddressInfo).port
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return pooler
}

test.skipIf(noPostgres)(
  'a pooler whose server is away holds up no request, and the store works once it is back',
  TIMED,
  async () => {
    const { url, drop } = await freshDatabase()
    closing.push(drop)
    const address = new URL(url)
    const pooler = await poolerTo(Number(address.port))
    pooler.isCut = true
    address.port = String(pooler.port)
    const store = new LazyStore({ engine: 'postgres', url: address.href }, tmpdir(), SILENT)
    closing.push(() => store.close())
    const within = <T>(promise: Promise<T>) => Promise.race([promise, pause(5000).then(() => 'no answer')])
    expect(await within(store.start())).toBeUndefined()
    for (let tries = 0; tries < 10; tries++) {
      expect(await within(store.turns.find('me', 'x').catch(() => 'refused'))).toBe('refused')
      await pause(20)
    }
    pooler.isCut = false
    for (let tries = 0; (await store.check()) !== undefined && tries < 160; tries++) await pause(50)
    await store.turns.put(turn('after'))
    expect(await store.turns.find('me', 'after')).toMatchObject({ id: 'after' })
    pooler.isCut = true
    expect(await within(store.turns.put(turn('lost')).catch(() => 'refused'))).toBe('refused')
    expect(await within(store.close())).toBeUndefined()
  },
)

test('a session that the server ended for a timeout is no bug', () => {
  for (const code of ['25P03', '25P04', '57P05', '57014'])
    expect(postgresFault(Object.assign(new Error('terminating connection'), { code })), code).toBeDefined()
})

const TIMEOUT = sql<{ readonly statement_timeout: string }>`show statement_timeout`

test.skipIf(noPostgres)(
  'sessions of a pooler, which other applications share, keep their settings',
  TIMED,
  async () => {
    const { url, drop } = await freshDatabase()
    closing.push(drop)
    const timeoutsAt = async (address: string) => {
      const { dialect } = engineOf(address)
      const database = new Kysely({ dialect })
      closing.push(() => database.destroy())
      const timeoutOf = async (one: Kysely<unknown>) => (await TIMEOUT.execute(one)).rows[0]!.statement_timeout
      const inTransaction = await database.transaction().execute(timeoutOf)
      return { inTransaction, outside: await timeoutOf(database) }
    }
    expect(await timeoutsAt(url)).toEqual({ inTransaction: '30s', outside: '30s' })
    const address = new URL(url)
    address.port = String((await poolerTo(Number(address.port))).port)
    expect(await timeoutsAt(address.href)).toEqual({ inTransaction: '30s', outside: '0' })
  },
)

test.skipIf(noPostgres)(
  'a database of another isolation serves concurrent changes, also behind a pooler',
  TIMED,
  async () => {
    const { url, drop } = await freshDatabase()
    closing.push(drop)
    const name = new URL(url).pathname.slice(1)
    await (await postgres()).run(`alter database "${name}" set default_transaction_isolation = 'serializable'`)
    const address = new URL(url)
    address.port = String((await poolerTo(Number(address.port))).port)
    for (const one of [url, address.href]) {
      const store = new LazyStore({ engine: 'postgres', url: one }, tmpdir(), SILENT)
      closing.push(() => store.close())
      const id = `conversation at ${one}`
      await store.conversations.create({ ...OWNED, id, metadata: {} }, [])
      const items = Array.from({ length: 40 }, (_, at) => ({ id: `${id} ${at}` }))
      await Promise.all(items.map(item => store.conversations.add('me', id, [item], OWNED.expiresAt)))
      expect(await store.conversations.items('me', id)).toHaveLength(items.length)
      expect(store.faultCount).toBe(0)
    }
  },
)

describe.skipIf(noPostgres)('a process', () => {
  const PROCESS = 'd'.repeat(32)
  const UPTIME = 'select extract(epoch from now() - pg_postmaster_start_time()) as seconds'

  async function twoProcesses() {
    const { url, drop } = await freshDatabase()
    closing.push(drop)
    const open = async () => {
      const store = new LazyStore({ engine: 'postgres', url }, tmpdir(), SILENT)
      closing.push(() => store.close())
      await store.liveness.open()
      return store
    }
    const [one, other] = [await open(), await open()]
    const client = new Client({ connectionString: url })
    await client.connect()
    closing.push(() => client.end())
    return { one, other, client }
  }

  test('that could not reach the database is not taken for dead when it is back', TIMED, async () => {
    const { one, other, client } = await twoProcesses()
    // Right after a start of the server, no process counts as silent.
    while ((await client.query(UPTIME)).rows[0].seconds < 21) await pause(500)
    expect(await other.liveness.isAlive(one.liveness.id)).toBe(true)
    // Nobody reached the server for a minute, or its clock was set forward.
    await client.query('update processes set beat_at = beat_at - 60000')
    expect(await other.liveness.isAlive(one.liveness.id)).not.toBe(false)
    for (let tries = 0; (await other.liveness.isAlive(one.liveness.id)) !== true; tries++) {
      expect(await other.liveness.isAlive(one.liveness.id)).not.toBe(false)
      if (tries > 100) throw new Error('no heartbeat')
      await pause(100)
    }
  })

  test('that stays silent is dead after some seconds', TIMED, async () => {
    const { other, client } = await twoProcesses()
    await client.query(`insert into processes values ('${PROCESS}', 1)`)
    const start = performance.now()
    for (let tries = 0; (await other.liveness.isAlive(PROCESS)) !== false && tries < 300; tries++) await pause(100)
    expect(performance.now() - start).toBeGreaterThan(7000)
    expect(await other.liveness.isAlive(PROCESS)).toBe(false)
  })
})

import { expect, test } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import { freshDatabase, noPostgres, postgres } from '../builders/postgres.ts'

const USER = 'few'

test.skipIf(noPostgres)(
  'a server that gives two connections serves as many requests as one that gives more',
  async () => {
    const [server, database] = [await postgres(), await freshDatabase()]
    const url = new URL(database.url)
    const name = url.pathname.slice(1)
    await server.run(`create role ${USER} login connection limit 2`)
    await server.run(`alter database ${name} owner to ${USER}`)
    url.username = USER
    const store = await openStore({ engine: 'postgres', url: url.href })
    try {
      const beats = Array.from({ length: 200 }, (_, index) =>
        store.processes.beat(index.toString(16).padStart(32, '0')),
      )
      expect((await Promise.allSettled(beats)).filter(({ status }) => status === 'rejected')).toEqual([])
    } finally {
      await store.close()
      await database.drop()
      await server.run(`drop role ${USER}`)
    }
  },
)

import { inDatabase } from '../../builders/engines.ts'
import { databaseFor, postgres } from '../../builders/postgres.ts'
import type { Breakage } from './breakages.ts'

/** Ways a PostgreSQL server breaks under a running gateway. */
export const OF_SERVERS: { readonly [name: string]: Breakage } = {
  'a server that crashed': {
    kind: 'unreachable',
    reads: false,
    break: async () => {
      const server = await postgres()
      await server.crash()
      return () => server.start()
    },
  },
  'a server that takes no more connections': {
    kind: 'unreachable',
    reads: false,
    break: async folder => {
      const server = await postgres()
      const name = databaseFor(folder)
      await server.run(`alter database ${name} allow_connections false`)
      await disconnect(folder)
      return () => server.run(`alter database ${name} allow_connections true`)
    },
  },
  'a server that became read-only': {
    kind: 'read-only',
    reads: true,
    break: async folder => {
      const server = await postgres()
      const set = (value: string) =>
        server.run(`alter database ${databaseFor(folder)} set default_transaction_read_only = ${value}`)
      await set('on')
      await disconnect(folder)
      return async () => {
        await set('off')
        await disconnect(folder)
      }
    },
  },
  'tables that are gone': {
    kind: 'damaged',
    reads: false,
    break: async folder => {
      await inDatabase(folder, 'alter table items rename to lost')
      return () => inDatabase(folder, 'alter table lost rename to items')
    },
  },
}

/** Closes the connections to a database, so that new ones use its settings. */
const disconnect = async (folder: string): Promise<void> =>
  (await postgres()).run(
    `select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = '${databaseFor(folder)}'`,
  )

import { existsSync, globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { freshDatabase, noPostgres, startPostgres } from './postgres.ts'

const ask = async (url: string, statement: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return (await client.query(statement).finally(() => client.end())).rows
}

test.skipIf(noPostgres)('every database is fresh, and gone when it was dropped', async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()])
  await ask(one.url, 'create table t (x text)')
  await ask(other.url, 'create table t (x text)')
  expect(await ask(one.url, `select 'a' < 'B' as alphabetical`)).toEqual([{ alphabetical: true }])
  await one.drop()
  await expect(ask(one.url, 'select 1')).rejects.toThrow('does not exist')
  await other.drop()
})

test.skipIf(noPostgres)('a server can crash and come back, and leaves nothing', async () => {
  const folders = () => globSync(join(tmpdir(), 'interlingua-postgres-*'))
  const before = new Set(folders())
  const server = await startPostgres()
  const [folder] = folders().filter(one => !before.has(one))
  const { url } = await server.database()
  await ask(url, 'create table t (x text)')
  await server.crash()
  await expect(ask(url, 'select 1')).rejects.toThrow()
  await server.start()
  expect(await ask(url, 'select * from t')).toEqual([])
  await server.close()
  expect(existsSync(folder!)).toBe(false)
})

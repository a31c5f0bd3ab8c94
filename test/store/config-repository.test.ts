import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { StoredEntry } from '../../src/store/config-records.ts'
import type { Store } from '../../src/store/store.ts'
import { inDatabase, openStoreAt } from '../builders/engines.ts'

let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'config-'))
  store = await openStoreAt(folder)
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true })
})

const entry = (name: string, more: Partial<StoredEntry> = {}): StoredEntry => ({
  ...{ kind: 'channel', name, settings: { name, text: 'ä\0\ud800' }, createdAt: 1, updatedAt: 2 },
  ...{ secrets: { keyId: 'k1', data: 'c2VjcmV0' }, ...more },
})

it('entries are created, changed and listed by kind and name', async () => {
  for (const one of [entry('b'), entry('B'), entry('a'), entry('m', { kind: 'model' })])
    expect(
      await store.config.changeEntry(one.kind, one.name, before => (before === undefined ? one : undefined)),
    ).toEqual(one)
  expect(
    await store.config.changeEntry('channel', 'a', before => (before === undefined ? entry('a') : undefined)),
  ).toBe(undefined)
  const changed = entry('a', { settings: { weight: 2 }, updatedAt: 3 })
  await store.config.changeEntry('channel', 'a', before => ({ ...before!, settings: { weight: 2 }, updatedAt: 3 }))
  expect(await store.config.entries()).toEqual([entry('B'), changed, entry('b'), entry('m', { kind: 'model' })])
})

it('the changes of access have all entries, as often as any of them changed', async () => {
  const before = (await store.access.changes(0)).version
  await store.config.changeEntry('channel', 'a', () => entry('a'))
  await store.config.changeEntry('channel', 'b', () => entry('b'))
  const { version, config } = await store.access.changes(before)
  expect(config).toEqual([entry('a'), entry('b')])
  expect(await store.access.changes(version)).not.toHaveProperty('config')
  await store.access.drain('x', true)
  expect(await store.access.changes(version)).not.toHaveProperty('config')
  await store.config.dropEntry('channel', 'a')
  expect((await store.access.changes(version)).config).toEqual([entry('b')])
})

it('a deleted channel leaves neither its secrets nor its drain', async () => {
  await store.config.changeEntry('channel', 'a', () => entry('a'))
  await store.access.drain('a', true)
  const { version } = await store.access.changes(0)
  expect(await store.config.dropEntry('channel', 'a')).toBe(true)
  expect(await store.config.dropEntry('channel', 'a')).toBe(false)
  expect(await store.access.changes(version)).toMatchObject({ config: [], drained: [] })
  expect(await inDatabase(folder, 'select settings, secrets from stored_config')).toEqual([
    { settings: '{}', secrets: null },
  ])
})

it('all secrets are encrypted again together with the secrets of the store, or none', async () => {
  await store.config.changeEntry('channel', 'a', () => entry('a'))
  await store.config.changeEntry('channel', 'b', () => entry('b'))
  await store.config.changeEntry('model', 'm', () => ({ ...entry('m'), kind: 'model', secrets: undefined }) as never)
  await store.shared.createSecret('s', Buffer.from('old'))
  const failing = store.config.encryptAgain(async () => ({
    change: ({ name }, secrets) => {
      if (name === 'b') throw new Error('no')
      return { ...secrets, keyId: 'k2' }
    },
    secrets: [{ name: 's', value: Buffer.from('new') }],
  }))
  await expect(failing).rejects.toThrow('no')
  const keys = async () => (await store.config.entries()).map(({ secrets }) => secrets?.keyId)
  expect(await keys()).toEqual(['k1', 'k1', undefined])
  expect(Buffer.from((await store.shared.secret('s'))!).toString()).toBe('old')
  const value = Buffer.from('new')
  const again = await store.config.encryptAgain(async secretOf => {
    expect(Buffer.from((await secretOf('s'))!).toString()).toBe('old')
    return { change: (_, secrets) => ({ ...secrets, keyId: 'k2' }), secrets: [{ name: 's', value }] }
  })
  expect(again).toBe(2)
  expect(await keys()).toEqual(['k2', 'k2', undefined])
  expect(Buffer.from((await store.shared.secret('s'))!).toString()).toBe('new')
})

it('of two that encrypt again at the same time, the later one reads the secret of the earlier one', async () => {
  await store.shared.createSecret('s', Buffer.from('old'))
  const read: string[] = []
  const again = (next: string) =>
    store.config.encryptAgain(async secretOf => {
      read.push(Buffer.from((await secretOf('s'))!).toString())
      await delay(20)
      return { change: (_, secrets) => secrets, secrets: [{ name: 's', value: Buffer.from(next) }] }
    })
  await Promise.all([again('new'), again('new')])
  expect(read).toEqual(['old', 'new'])
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Access } from '../../src/accounts/index.ts'
import { keyFile, readKeys } from '../../src/accounts/key-file.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { hashOf } from '../../src/config/hash.ts'
import type { Config } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'
import type { AccessRecords } from '../../src/store/access-records.ts'
import { UNAVAILABLE } from '../../src/store/fault.ts'
import type { Store } from '../../src/store/store.ts'
import { openStoreAt, storeAt, written } from '../builders/engines.ts'
import { createKey, guardedAccess, rotateKey, withKeys } from '../builders/keys.ts'
import { SOON } from '../builders/time.ts'

const dirs: string[] = []
const opened: Access[] = []
const stores: Store[] = []
afterEach(async () => {
  for (const access of opened.splice(0)) await access.close()
  for (const store of stores.splice(0)) await store.close()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
})

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'access-'))
  dirs.push(dir)
  return dir
}

const configOf = (lines: string, dir = dataDir()): Config =>
  readConfig(`data_dir: ${dir}\nstore: "${written(storeAt(dir))}"\n${lines}`, {})

function open(config: Config, now?: () => number): Access {
  const access = new Access(config, now === undefined ? {} : { now })
  opened.push(access)
  return access
}

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

function refusal(act: () => unknown): GatewayError['error'] {
  try {
    act()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error
  }
  throw new Error('it was not refused')
}

const KEYS = `groups:
  default: { models: [m], rpm: 2 }
  rich: { tpm: 600 }
keys:
  - { name: dev, key: dev-secret }
  - { name: boss, key: boss-secret, group: rich }
`

describe('the owner of a key', () => {
  it('finds keys of the config and their groups', () => {
    const access = open(configOf(KEYS))
    expect(access.identify(bearer('boss-secret'))).toMatchObject({
      ...{ key: 'boss', group: 'rich', permissions: { limits: { tpm: 600 } } },
    })
    expect(access.identify(bearer('dev-secret'))).toMatchObject({
      ...{ key: 'dev', group: 'default', permissions: { limits: { rpm: 2 } } },
    })
  })

  it('refuses a missing and a wrong key without repeating it', () => {
    const access = open(configOf(KEYS))
    expect(refusal(() => access.identify({ headers: {} }))).toMatchObject({ kind: 'unauthenticated' })
    const wrong = refusal(() => access.identify(bearer('dev-secre')))
    expect(wrong).toMatchObject({ kind: 'unauthenticated', code: 'invalid_api_key' })
    expect(JSON.stringify(wrong)).not.toContain('dev-secre')
  })

  it('does not store keys in the config object', () => {
    const config = configOf(KEYS)
    expect(JSON.stringify(config.keys)).not.toContain('secret')
  })

  it('uses a new config, and refuses keys whose group was removed', () => {
    const config = configOf(KEYS)
    const access = open(config)
    const rich = access.identify(bearer('boss-secret'))
    access.reload(readConfig(`data_dir: ${config.dataDir}\nkeys: [{ name: new, key: new-secret }]`, {}))
    expect(access.identify(bearer('new-secret')).key).toBe('new')
    expect(refusal(() => access.identify(bearer('dev-secret')))).toMatchObject({ kind: 'unauthenticated' })
    expect(access.endOf(rich)).toMatchObject({ error: { kind: 'unauthenticated' } })
  })
})

describe('keys of the store', () => {
  /** Opens access to a store, and returns the store, too. */
  async function openStored(config: Config, now?: () => number) {
    const store = await openStoreAt(config.dataDir)
    stores.push(store)
    const access = new Access(config, { records: store.access, ...(now === undefined ? {} : { now }) })
    opened.push(access)
    await access.open()
    return { access, records: store.access }
  }

  it('are accepted and revoked within a second', async () => {
    const config = configOf('')
    const { access } = await openStored(config)
    const key = await withKeys(config.dataDir, records => createKey(records, 'late'))
    await vi.waitFor(() => expect(access.identify(bearer(key)).key).toBe('late'), SOON)
    await withKeys(config.dataDir, async other => other.revokeKey((await other.keyNamed('late'))!.id, 1))
    await vi.waitFor(() => expect(() => access.identify(bearer(key))).toThrow('not valid'), SOON)
  })

  it('are found by every valid secret, under one id', async () => {
    let now = 1000
    const { access, records } = await openStored(configOf(''), () => now)
    const first = await createKey(records, 'a')
    const second = await rotateKey(records, 'a', 5000, now)
    await access.refresh()
    const [one, two] = [access.identify(bearer(first)), access.identify(bearer(second))]
    expect(one.id).toBe(two.id)
    now = 5000
    expect(refusal(() => access.identify(bearer(first)))).toMatchObject({ code: 'invalid_api_key' })
    expect(access.identify(bearer(second))).toBe(two)
    expect(access.endOf(one)?.message).toContain('expired')
    expect(access.endOf(two)).toBeUndefined()
    expect(access.renewed({ id: one.id })).toBe(two)
    expect(refusal(() => access.renewed(one))).toMatchObject({ kind: 'unauthenticated' })
  })

  it('are refused while they are disabled, once they have expired, and without their group', async () => {
    let now = 1000
    const { access, records } = await openStored(configOf(''), () => now)
    const key = await createKey(records, 'a', { id: 'a', expiresAt: 2000 })
    await access.refresh()
    const caller = access.identify(bearer(key))
    const ended = vi.fn()
    access.onEnded(ended)
    await records.changeKey('a', { enabled: false })
    await access.refresh()
    expect(ended).toHaveBeenCalledOnce()
    expect(refusal(() => access.identify(bearer(key))).message).toContain('disabled')
    expect(access.endOf(caller)?.message).toContain('disabled')
    await records.changeKey('a', { enabled: true })
    await access.refresh()
    expect(access.endOf(caller)).toBeUndefined()
    now = 2000
    await access.refresh()
    expect(ended).toHaveBeenCalledTimes(3)
    expect(refusal(() => access.identify(bearer(key))).message).toContain('expired')
    await records.changeKey('a', { expiresAt: undefined, group: 'gone' })
    await access.refresh()
    expect(refusal(() => access.identify(bearer(key)))).toMatchObject({ kind: 'forbidden', code: 'group_not_found' })
    await records.putGroup({ name: 'gone', models: ['m'], limits: {}, onLoss: 'show', createdAt: 0 })
    await access.refresh()
    expect(access.identify(bearer(key)).permissions.allowsModel('n')).toBe(false)
  })

  it('record only permitted requests as use', async () => {
    let now = 1000
    const { access, records } = await openStored(configOf(''), () => now)
    const [open, expired, disabled] = [
      await createKey(records, 'open', { id: 'open' }),
      await createKey(records, 'expired', { id: 'expired', expiresAt: 2000 }),
      await createKey(records, 'disabled', { id: 'disabled', enabled: false }),
    ]
    await access.refresh()
    access.identify(bearer(expired))
    now = 3000
    access.identify(bearer(open))
    for (const key of [expired, disabled]) expect(refusal(() => access.identify(bearer(key)))).toBeDefined()
    await access.close()
    const usedAt = async (id: string) => (await records.key(id))?.lastUsedAt
    expect([await usedAt('open'), await usedAt('expired'), await usedAt('disabled')]).toEqual([3000, 1000, undefined])
  })

  it('prefer groups of the config to stored groups, except for the undeclared default group', async () => {
    const config = configOf('groups: { mine: { models: [a] } }')
    const { access, records } = await openStored(config)
    const group = { models: ['b'], limits: {}, onLoss: 'show', createdAt: 0 } as const
    for (const name of ['mine', 'default', 'other']) await records.putGroup({ name, ...group })
    const keys = await Promise.all(
      ['mine', 'default', 'other'].map(group => createKey(records, `of ${group}`, { group })),
    )
    await access.refresh()
    const allowed = keys.map(key =>
      ['a', 'b'].filter(model => access.identify(bearer(key)).permissions.allowsModel(model)).join(''),
    )
    expect(allowed).toEqual(['a', 'b', 'b'])
  })

  it('store the time of their last use', async () => {
    let now = 1000
    const { access, records } = await openStored(configOf(''), () => now)
    const key = await createKey(records, 'a', { id: 'a' })
    await createKey(records, 'b', { id: 'b' })
    await access.refresh()
    access.identify(bearer(key))
    now = 3000
    access.identify(bearer(key))
    await access.close()
    expect(await records.key('a')).toMatchObject({ lastUsedAt: 3000 })
    expect((await records.key('b'))!.lastUsedAt).toBeUndefined()
  })

  it('stay valid while the store cannot be read; until it can, unknown keys are not counted as wrong', async () => {
    const config = configOf('keys: [{ name: fixed, key: fixed-secret }]')
    const store = await openStoreAt(config.dataDir)
    stores.push(store)
    const key = await createKey(store.access, 'a')
    let isDown = true
    const records = {
      ...guardedAccess((_, work) => (isDown ? Promise.reject(UNAVAILABLE) : work(store.access))),
    }
    const access = new Access(config, { records })
    opened.push(access)
    await access.open()
    expect(access.identify(bearer('fixed-secret')).key).toBe('fixed')
    expect(refusal(() => access.identify(bearer(key)))).toMatchObject({ code: 'store_unavailable' })
    isDown = false
    await access.refresh()
    expect(access.identify(bearer(key)).key).toBe('a')
    isDown = true
    await access.refresh()
    expect(access.identify(bearer(key)).key).toBe('a')
    expect(refusal(() => access.identify(bearer('other')))).toMatchObject({ code: 'invalid_api_key' })
  })

  it('expire on time while the store does not answer', async () => {
    vi.useFakeTimers()
    const expiresAt = Date.now() + 2000
    const secrets = [{ hash: hashOf('short-lived'), prefix: '', lastFour: '', createdAt: 0 }]
    const key = { id: 'id', name: 'it', group: 'default', limits: {}, enabled: true, createdAt: 0, secrets, expiresAt }
    let reads = 0
    const changes = () =>
      reads++ === 0
        ? Promise.resolve({ version: 1, whole: true, keys: [key], groups: [], droppedGroups: [] })
        : new Promise<never>(() => {})
    const config = { ...configOf(KEYS), store: { engine: 'postgres' as const, url: 'postgres://nowhere' } }
    const access = new Access(config, { records: { changes } as unknown as AccessRecords })
    try {
      await access.open()
      const caller = access.identify(bearer('short-lived'))
      const ends: (string | undefined)[] = []
      access.onEnded(() => void ends.push(access.endOf(caller)?.error.message))
      await vi.advanceTimersByTimeAsync(1900)
      expect(ends).toEqual([])
      await vi.advanceTimersByTimeAsync(1000)
      expect(ends).toEqual(['The API key has expired.'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('disappear if the database is replaced by another', async () => {
    const { access, records } = await openStored(configOf(''))
    const key = await createKey(records, 'a')
    await access.refresh()
    const other = await openStoreAt(dataDir(), () => Date.now() + 100_000)
    stores.push(other)
    const kept = await createKey(other.access, 'b')
    records.changes = since => other.access.changes(since)
    await access.refresh()
    expect(access.identify(bearer(kept)).key).toBe('b')
    expect(refusal(() => access.identify(bearer(key)))).toMatchObject({ code: 'invalid_api_key' })
  })

  it('are imported once from the key file of an earlier version, with the same ids', async () => {
    const config = configOf('')
    const [hash, owner] = ['a1'.repeat(32), 'b2'.repeat(16)]
    const row = (name: string, more: object) => ({ name, group: 'default', hint: 'il-abcd', createdAt: 'x', ...more })
    const keys = [
      row('a', { hash: 'c3'.repeat(32), revokedAt: '2026-01-01' }),
      row('a', { hash, owner }),
      row('b', { hash: hashOf('b-secret') }),
    ]
    writeFileSync(keyFile(config.dataDir), JSON.stringify({ keys }))
    const { access, records } = await openStored(config)
    expect(await records.keyNamed('a')).toMatchObject({ id: owner, secrets: [{ hash, prefix: 'il-abcd' }] })
    expect(access.identify(bearer('b-secret')).id).toBe(hashOf('b-secret').slice(0, 32))
    expect(readKeys(keyFile(config.dataDir))).toEqual([])
    expect(readKeys(`${keyFile(config.dataDir)}.imported`)).toHaveLength(3)
  })

  it('are revoked for good, even if a key of the config has the same id', async () => {
    const config = configOf('keys: [{ name: dev, key: dev-secret }]')
    const key = { name: 'old', hash: hashOf('dev-secret'), group: 'default', createdAt: '2026-01-01T00:00:00Z' }
    writeFileSync(keyFile(config.dataDir), JSON.stringify({ keys: [key] }))
    const { access, records } = await openStored(config)
    const { id } = (await records.keyNamed('old'))!
    const rotated = await rotateKey(records, 'old')
    await access.refresh()
    expect(access.identify(bearer(rotated))).toMatchObject({ key: 'old', id })
    await records.revokeKey(id, Date.now())
    await access.refresh()
    expect(refusal(() => access.identify(bearer(rotated)))).toMatchObject({ kind: 'unauthenticated' })
    expect(access.identify(bearer('dev-secret'))).toMatchObject({ key: 'dev', id })
    expect(access.endOfOwner(id)).toBeUndefined()
  })

  it('prevent the start of a gateway if their file is damaged', async () => {
    const config = configOf('')
    writeFileSync(keyFile(config.dataDir), '{"keys": [{}]}')
    await expect(openStored(config)).rejects.toThrow('damaged')
  })
})

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Access, openAccess } from '../../src/access/index.ts'
import { createKey, keyFile, readKeys, revokeKey, rotateKey } from '../../src/access/key-file.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Config } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'

const dirs: string[] = []
const opened: Access[] = []
afterEach(() => {
  for (const access of opened.splice(0)) access.close()
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true })
})

function dataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'access-'))
  dirs.push(dir)
  return dir
}

const configOf = (lines: string, dir = dataDir()): Config => readConfig(`data_dir: ${dir}\n${lines}`, {})

function open(config: Config, now?: () => number): Access {
  const access = openAccess(config, now === undefined ? {} : { now })
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

describe('whose key it is', () => {
  it('knows fixed keys and their groups', () => {
    const access = open(configOf(KEYS))
    expect(access.identify(bearer('boss-secret'))).toMatchObject({ key: 'boss', group: { name: 'rich', tpm: 600 } })
    expect(access.identify(bearer('dev-secret'))).toMatchObject({ key: 'dev', group: { models: ['m'], rpm: 2 } })
  })

  it('refuses no key and a wrong key, and repeats neither', () => {
    const access = open(configOf(KEYS))
    expect(refusal(() => access.identify({ headers: {} }))).toMatchObject({ kind: 'unauthenticated' })
    const wrong = refusal(() => access.identify(bearer('dev-secre')))
    expect(wrong).toMatchObject({ kind: 'unauthenticated', code: 'invalid_api_key' })
    expect(JSON.stringify(wrong)).not.toContain('dev-secre')
  })

  it('keeps no key in the config', () => {
    const config = configOf(KEYS)
    expect(JSON.stringify(config.keys)).not.toContain('secret')
  })

  it('takes a new config, and refuses keys of groups that are gone', () => {
    const config = configOf(KEYS)
    const access = open(config)
    const made = createKey(keyFile(config.dataDir), 'made', 'rich')
    access.reload(readConfig(`data_dir: ${config.dataDir}\nkeys: [{ name: new, key: new-secret }]`, {}))
    expect(access.identify(bearer('new-secret')).key).toBe('new')
    expect(refusal(() => access.identify(bearer('dev-secret')))).toMatchObject({ kind: 'unauthenticated' })
    expect(refusal(() => access.identify(bearer(made)))).toMatchObject({ kind: 'forbidden' })
  })
})

describe('the key file', () => {
  it('holds hashes only, for its owner only', () => {
    const path = keyFile(join(dataDir(), 'deeper'))
    const key = createKey(path, 'first', 'default')
    expect(readFileSync(path, 'utf8')).not.toContain(key)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readKeys(path)).toMatchObject([{ name: 'first', group: 'default', hint: key.slice(0, 7) }])
  })

  it('makes, rotates and revokes', () => {
    const config = configOf('')
    const path = keyFile(config.dataDir)
    const first = createKey(path, 'a', 'default')
    expect(() => createKey(path, 'a', 'default')).toThrow('already')
    const second = rotateKey(path, 'a')
    const access = open(config)
    expect(access.identify(bearer(second)).key).toBe('a')
    expect(refusal(() => access.identify(bearer(first)))).toMatchObject({ kind: 'unauthenticated' })
    revokeKey(path, 'a')
    expect(() => revokeKey(path, 'a')).toThrow('no key named "a"')
    expect(createKey(path, 'a', 'default')).not.toBe(second)
  })

  it('says who owns what a key leaves behind: the same after its secret was replaced, another for a new key', () => {
    const config = configOf('')
    const path = keyFile(config.dataDir)
    const idOf = (key: string): string => open(config).identify(bearer(key)).id
    const first = idOf(createKey(path, 'a', 'default'))
    expect(idOf(rotateKey(path, 'a'))).toBe(first)
    expect(idOf(rotateKey(path, 'a'))).toBe(first)
    expect(readKeys(path).map(({ revokedAt }) => revokedAt === undefined)).toEqual([false, false, true])
    expect(readFileSync(path, 'utf8').match(/"owner"/g)).toHaveLength(2)
    revokeKey(path, 'a')
    const again = idOf(createKey(path, 'a', 'default'))
    expect(again).not.toBe(first)
    expect(idOf(createKey(path, 'b', 'default'))).not.toBe(again)
  })

  it('knows the owner of keys made before there were owners, and refuses one that is no text', () => {
    const config = configOf('')
    const path = keyFile(config.dataDir)
    const key = createKey(path, 'a', 'default')
    const [stored] = readKeys(path)
    expect(open(config).identify(bearer(key)).id).toBe(stored!.hash.slice(0, 32))
    writeFileSync(path, JSON.stringify({ keys: [{ ...stored, owner: 7 }] }))
    expect(() => readKeys(path)).toThrow('damaged')
  })

  it('is watched: a key made or revoked meanwhile counts at once', async () => {
    const config = configOf('')
    const access = open(config)
    const key = createKey(keyFile(config.dataDir), 'late', 'default')
    await vi.waitFor(() => expect(access.identify(bearer(key)).key).toBe('late'), 5000)
    revokeKey(keyFile(config.dataDir), 'late')
    await vi.waitFor(() => expect(() => access.identify(bearer(key))).toThrow('not valid'), 5000)
  })

  it('keeps the known keys when the file is damaged, and says so', async () => {
    const config = configOf('')
    const key = createKey(keyFile(config.dataDir), 'a', 'default')
    const onFault = vi.fn()
    const access = openAccess(config, { onFault })
    opened.push(access)
    writeFileSync(keyFile(config.dataDir), '{"keys": [{}]}')
    await vi.waitFor(() => expect(onFault).toHaveBeenCalled(), 5000)
    expect(onFault.mock.calls[0]![0]).toContain('damaged')
    expect(access.identify(bearer(key)).key).toBe('a')
    expect(() => openAccess(config)).toThrow('damaged')
  })
})

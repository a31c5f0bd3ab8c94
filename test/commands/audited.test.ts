import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import type { AuditEntry } from '../../src/store/audit-records.ts'
import { openStoreAt, storeAt, written } from '../builders/engines.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audited-'))
  configure()
})
afterEach(() => rmSync(dir, { recursive: true }))

const configure = (more = ''): void =>
  writeFileSync(
    join(dir, 'config.yaml'),
    `data_dir: ${dir}/data\nstore: "${written(storeAt(join(dir, 'data')))}"\nkeys: [{ name: fixed, key: fixed-secret }]\n${more}`,
  )

/** Runs a command line with the config. */
async function run(line: string): Promise<{ code: number; out: string }> {
  const out: string[] = []
  const terminal = { out: (text: string) => out.push(text), fault: () => {} }
  return {
    code: await commandLine([...line.split(' '), '-c', join(dir, 'config.yaml')], terminal),
    out: out.join('\n'),
  }
}

/** Returns the audit log, oldest entry first. */
async function entries(): Promise<readonly AuditEntry[]> {
  const store = await openStoreAt(join(dir, 'data'))
  try {
    const { entries } = await store.audit.list({ since: 0, until: Number.MAX_SAFE_INTEGER, limit: 100 })
    return [...entries].reverse()
  } finally {
    await store.close()
  }
}

const actionsOf = (entries: readonly AuditEntry[]): string[] => entries.map(({ action, name }) => `${action} ${name}`)

test('changes of keys and groups by commands are in the audit log, under the name of the user, without secrets', async () => {
  await run('groups create team --rpm 5')
  await run('groups change team --rpm 6')
  const created = await run('keys create app --group team --rpm 10')
  await run('keys change app --rpm 12 --name app-2')
  const rotated = await run('keys rotate app-2')
  await run('keys revoke app-2')
  await run('groups drop team')
  const found = await entries()
  expect(actionsOf(found)).toEqual([
    ...['createGroup team', 'changeGroup team', 'createKey app', 'changeKey app-2', 'rotateKey app-2'],
    ...['revokeKey app-2', 'deleteGroup team'],
  ])
  for (const { actor, actorKind } of found) expect([actor, actorKind]).toEqual([userInfo().username, 'command'])
  expect(found[1]!.changes).toEqual([{ field: 'rpm', from: 5, to: 6 }])
  expect(found[3]!.changes).toEqual([
    { field: 'name', from: 'app', to: 'app-2' },
    { field: 'rpm', from: 10, to: 12 },
  ])
  expect(found[5]!.changes).toEqual([{ field: 'revoked_at', to: expect.any(String) }])
  const text = JSON.stringify(found)
  for (const secret of [created.out, rotated.out]) expect(text).not.toContain(secret.slice(-4))
})

test('changes of channels, tokens and users by commands are in the audit log, without secrets', async () => {
  writeFileSync(join(dir, 'channel.yaml'), 'name: own\nprovider: openai\nkey: sk-very-secret\n')
  await run(`channels add ${join(dir, 'channel.yaml')}`)
  await run('channels remove own')
  const token = await run('admin token ci')
  const [{ target }] = (await entries()).slice(-1) as [AuditEntry]
  await run(`admin revoke ${target}`)
  const password = await run('console user add ada --role viewer')
  await run('console password ada')
  const found = await entries()
  expect(actionsOf(found)).toEqual([
    ...['createChannel own', 'deleteChannel own', 'createToken ci', 'revokeToken ci', 'createUser ada'],
    'resetUserPassword ada',
  ])
  expect(found[0]!.changes).toContainEqual({ field: 'provider', to: 'openai' })
  expect(found[4]!.changes).toContainEqual({ field: 'role', to: 'viewer' })
  const text = JSON.stringify(found)
  for (const secret of ['sk-very-secret', token.out, password.out]) expect(text).not.toContain(secret)
})

test('refused commands, and commands where no usage is stored, leave no entry', async () => {
  await run('keys create app --group nowhere')
  await run('keys revoke nobody')
  await run('groups change nowhere --rpm 1')
  await run('channels remove nowhere')
  configure('usage: { keep: 0 }\n')
  expect((await run('keys create quiet')).code).toBe(0)
  expect(await entries()).toEqual([])
})

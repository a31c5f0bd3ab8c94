import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { hashOf } from '../../src/config/hash.ts'
import { ON_FILES, storeAt, written } from '../builders/engines.ts'
import { withKeys } from '../builders/keys.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'line-'))
  writeFileSync(
    join(dir, 'config.yaml'),
    `data_dir: ${dir}/data\nstore: "${written(storeAt(join(dir, 'data')))}"\ngroups: { team: { models: [m] } }\nkeys: [{ name: fixed, key: fixed-secret, rpm: 9 }]\n`,
  )
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Runs a command line with the config. */
async function run(line: string | readonly string[]): Promise<{ code: number; out: string; fault: string }> {
  const out: string[] = []
  const fault: string[] = []
  const terminal = { out: (text: string) => out.push(text), fault: (text: string) => fault.push(text) }
  const code = await commandLine(
    [...(typeof line === 'string' ? line.split(' ') : line), '-c', join(dir, 'config.yaml')],
    terminal,
  )
  return { code, out: out.join('\n'), fault: fault.join('\n') }
}

const stored = <T>(work: Parameters<typeof withKeys<T>>[1]): Promise<T> => withKeys(join(dir, 'data'), work)

describe('keys', () => {
  test('are created with what they may do, shown once, and listed without their secrets', async () => {
    const made = await run(
      'keys create bob --group team --models a,b* --doors chat,responses --rpm 5 --budget-day 2.5 --expires 30d --note x',
    )
    expect(made.out).toMatch(/^il-[\w-]{43}$/)
    expect(await stored(records => records.keyNamed('bob'))).toMatchObject({
      ...{ group: 'team', models: ['a', 'b*'], doors: ['chat', 'responses'], note: 'x', enabled: true },
      ...{ limits: { rpm: 5, budget: { day: 2.5 } }, secrets: [{ hash: hashOf(made.out) }] },
    })
    const list = await run('keys list')
    expect(list.out).toMatch(/^fixed +default +rpm 9 +defined in the config$/m)
    expect(list.out).toMatch(/^bob +team +il-.{4}….{4} +rpm 5, \$2.5 a day +never +valid, until \d{4}-.*$/m)
    const [{ out: json }, { out: shown }] = [await run('keys list --json'), await run('keys show bob')]
    expect(JSON.parse(json)).toMatchObject([
      { name: 'fixed', fixed: true },
      { name: 'bob', note: 'x' },
    ])
    expect(JSON.parse(shown)).toMatchObject({ secrets: [{ prefix: made.out.slice(0, 7) }] })
    for (const text of [list.out, json, shown]) {
      expect(text).not.toContain(made.out)
      expect(text).not.toContain(hashOf(made.out))
      expect(text).not.toContain(hashOf('fixed-secret'))
    }
  })

  test.each([
    ['a time in the past', ['keys', 'create', 'bob', '--expires', '2020-01-01'], 'The time is in the past.'],
    [
      'a number',
      ['keys', 'create', 'bob', '--expires', '90'],
      'Expected a time such as 2027-01-31, or a duration from now',
    ],
    ['a day of two meanings', ['keys', 'create', 'bob', '--expires', '1/2/2099'], 'Expected a time such as 2027-01-31'],
    ['what no clock shows', ['keys', 'create', 'bob', '--expires', '9999999d'], 'Expected a time such as 2027-01-31'],
    ['more than is counted', ['keys', 'create', 'bob', '--budget-day', '1000001'], 'Expected an amount of US dollars'],
    ['a name of two lines', ['keys', 'create', 'bob\nfixed'], 'a name must not contain control characters'],
    ['a name that moves a cursor', ['groups', 'create', 'esc\u001b[2J'], 'a name must not contain control characters'],
    ['no name', ['groups', 'create', ' '], 'a name must have 1 to 200 characters'],
  ])('are not made with %s', async (_, words, fault) => {
    const refused = await run(words)
    expect(refused.code).not.toBe(0)
    expect(refused.fault).toContain(fault)
    expect(await stored(records => records.keyNamed('bob'))).toBeUndefined()
  })

  test('are changed setting by setting, and renamed', async () => {
    await run('keys create bob --rpm 5 --tpm 7 --note x --models a')
    expect(await run('keys change bob --rpm none --models none --on-loss refuse --disable')).toMatchObject({ code: 0 })
    const bob = await stored(records => records.keyNamed('bob'))
    expect(bob).toMatchObject({ limits: { tpm: 7 }, note: 'x', onLoss: 'refuse', enabled: false })
    expect(bob).not.toHaveProperty('models')
    expect((await run('keys list')).out).toContain('disabled')
    await run('keys change bob --name rob --enable')
    expect(await stored(records => records.keyNamed('rob'))).toMatchObject({ id: bob!.id, enabled: true })
  })

  test('are rotated with a time in which both work, and revoked for good', async () => {
    const [first] = [await run('keys create bob')]
    const second = await run('keys rotate bob --grace 24h')
    expect(second.out).toMatch(/^il-/)
    const bob = await stored(records => records.keyNamed('bob'))
    expect(bob!.secrets.map(({ hash }) => hash)).toEqual([hashOf(second.out), hashOf(first!.out)])
    expect(bob!.secrets[1]!.expiresAt! - Date.now()).toBeGreaterThan(23 * 3_600_000)
    expect((await run('keys list')).out).toMatch(/valid, il-.*until/)
    expect(await run('keys revoke bob')).toMatchObject({ code: 0, out: 'Revoked bob.' })
    expect(await run('keys revoke bob')).toMatchObject({ code: 1, fault: 'there is no key named "bob"' })
    expect((await run('keys list')).out).not.toContain('bob')
    expect((await run('keys list --all')).out).toMatch(/bob .*revoked 2/)
    expect(await run('keys create bob')).toMatchObject({ code: 0 })
  })

  test.each([
    ['keys create fixed', 'the key "fixed" is defined in the config: change it there'],
    ['keys revoke fixed', 'the key "fixed" is defined in the config: change it there'],
    ['keys rotate fixed', 'the key "fixed" is defined in the config: change it there'],
    ['keys change backend --name fixed', 'the key "fixed" is defined in the config: change it there'],
    ['keys create backend', 'a key named "backend" already exists; rotate or revoke it'],
    ['keys revoke backned', 'there is no key named "backned"; did you mean "backend"?'],
    ['keys create x --group tean', 'there is no group "tean"; did you mean "team"?'],
    ['keys create x --group sales', 'there is no group "sales"; `interlingua groups create sales` creates it'],
    ['groups change team --rpm 1', 'the group "team" is defined in the config: change it there'],
    ['groups drop gone', 'there is no group "gone" in the store'],
    ['admin revoke gone', 'there is no token "gone"; `interlingua admin tokens` lists them'],
  ])('%s is refused: %s', async (line, fault) => {
    await run('keys create backend')
    expect(await run(line)).toMatchObject({ code: 1, fault })
  })

  test('a store that cannot be reached is named as the cause', async () => {
    writeFileSync(join(dir, 'config.yaml'), 'store: postgres://a:b@127.0.0.1:1/c\n')
    const { code, fault } = await run('keys list')
    expect({ code, fault }).toMatchObject({
      code: 1,
      fault: expect.stringMatching(/^the store postgres:.*:1\/.* cannot be used: .*:1$/),
    })
    expect(fault).not.toContain('a:b')
  })

  test('usage names the reason why the store cannot be used', async () => {
    writeFileSync(join(dir, 'config.yaml'), 'store: postgres://a:b@127.0.0.1:1/c\n')
    const { code, fault } = await run('usage')
    expect({ code, fault }).toMatchObject({
      code: 1,
      fault: expect.stringMatching(/^the store cannot be used: .*:1\nStored data is temporarily unavailable\.$/),
    })
    expect(fault).not.toContain('a:b')
  })

  test.each([
    ['keys create x --rpm many', 'Expected a whole number, 0 or more.'],
    ['keys create x --doors chta', 'Unknown format "chta"; did you mean "chat"?'],
    ['keys create x --expires soon', 'Expected a time such as 2027-01-31'],
    ['keys rotate x --grace 24', 'Expected a duration such as 24h.'],
  ])('%s is wrong usage: %s', async (line, fault) => {
    const { code, fault: said } = await run(line)
    expect(code).toBe(2)
    expect(said).toContain(fault)
  })

  test.runIf(ON_FILES)('are listed without beginning a store', async () => {
    expect((await run('keys list')).code).toBe(0)
    expect(() => rmSync(join(dir, 'data'), { recursive: true })).toThrow('ENOENT')
  })
})

test('groups are created, changed, listed and dropped', async () => {
  expect(await run('groups create ops --models a,b --channels c* --rpm 3')).toMatchObject({ code: 0 })
  expect(await run('groups create ops')).toMatchObject({ code: 1, fault: 'a group named "ops" already exists' })
  await run('groups change ops --rpm none --tpm 4 --models none')
  expect(await stored(records => records.groups())).toMatchObject([
    { name: 'ops', models: ['*'], channels: ['c*'], limits: { tpm: 4 }, onLoss: 'show' },
  ])
  expect((await run('groups list')).out).toMatch(/^ops +\* +all +c\* +tpm 4$/m)
  expect((await run('groups list')).out).toMatch(/^team +m .*defined in the config$/m)
  expect(await run('keys create bob --group ops')).toMatchObject({ code: 0 })
  expect(await run('groups drop ops')).toMatchObject({ code: 0 })
  expect((await run('groups list --json')).out).not.toContain('ops')
})

test('tokens of administrators are created, listed and revoked', async () => {
  const made = await run('admin token me --expires 1d')
  expect(made.out).toMatch(/^iladm-[\w-]{43}$/)
  const token = await stored(records => records.token(hashOf(made.out)))
  expect(token).toMatchObject({ name: 'me', lastFour: made.out.slice(-4) })
  const list = await run('admin tokens')
  expect(list.out).toMatch(new RegExp(`^${token!.id} +me +iladm-.{4}….{4} +2\\d{3}-`, 'm'))
  expect(list.out).not.toContain(made.out)
  expect(await run(`admin revoke ${token!.id}`)).toMatchObject({ code: 0 })
  expect(await stored(records => records.token(hashOf(made.out)))).toBeUndefined()
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { hashOf } from '../../src/config/hash.ts'
import { AdminServer } from '../builders/admin.ts'
import { inDatabase, storeAt, written } from '../builders/engines.ts'

/*
 * Each way to change a key or a group changes the named setting and nothing else: neither the other settings, nor those
 * that only a later version knows, which shares the store during a rolling upgrade.
 */

const LIMITS = {
  ...{ rpm: 1, tpm: 2, concurrent: 3, later: { a: 1 } },
  budget: { day: 1, month: 2, unknown: 'refuse', later: 4 },
}
const SHARED = { models: ['a', 'b'], doors: ['chat'], limits: LIMITS, onLoss: 'refuse', later: ['x', { y: 1 }] }
const KEY_SETTINGS = { ...SHARED, note: 'n', enabled: true, expiresAt: 4e12, captureUntil: 3e12 }
const GROUP_SETTINGS = { ...SHARED, channels: ['c'], fallbacks: [{ model: 'm', on: ['failure'] }] }

let server: AdminServer
beforeAll(async () => {
  server = await AdminServer.open([])
  const secret = { hash: hashOf('secret'), prefix: 'il-', lastFour: 'last', createdAt: 1 }
  const settings = { limits: {}, enabled: true, createdAt: 1 }
  await server.store.access.putGroup({ name: 'g', models: [], limits: {}, onLoss: 'show', createdAt: 1 })
  await server.store.access.createKey({ id: 'k', name: 'k', group: 'g', ...settings, secrets: [secret] })
  writeFileSync(configPath(), `data_dir: ${server.path}\nstore: "${written(storeAt(server.path))}"\n`)
})
afterAll(() => server.close())

const configPath = (): string => join(server.path, 'config.yaml')

async function run(line: string): Promise<void> {
  const terminal = { out: () => {}, fault: () => {} }
  expect(await commandLine([...line.split(' '), '-c', configPath()], terminal)).toBe(0)
}

async function ask(method: string, path: string, body: object): Promise<void> {
  expect(await server.ask(method, path, body)).toMatchObject({ status: 200 })
}

type Change = readonly [name: string, change: () => Promise<void>, changes: object]

const limitsWith = (limits: object) => ({ limits: { ...LIMITS, ...limits } })
const budgetWith = (budget: object) => limitsWith({ budget: { ...LIMITS.budget, ...budget } })

const OF_KEYS: readonly Change[] = [
  ['a note by the admin API', () => ask('PATCH', '/keys/k', { note: 'other' }), { note: 'other' }],
  ['a limit by the admin API', () => ask('PATCH', '/keys/k', { rpm: 9 }), limitsWith({ rpm: 9 })],
  ['a removed limit by the admin API', () => ask('PATCH', '/keys/k', { rpm: null }), limitsWith({ rpm: undefined })],
  ['a budget by the admin API', () => ask('PATCH', '/keys/k', { budget: { day: 9 } }), budgetWith({ day: 9 })],
  ['no budget by the admin API', () => ask('PATCH', '/keys/k', { budget: null }), limitsWith({ budget: undefined })],
  ['a new name by the admin API', () => ask('PATCH', '/keys/k', { name: 'k' }), {}],
  ['a note by a command', () => run('keys change k --note other'), { note: 'other' }],
  ['a limit by a command', () => run('keys change k --rpm 9'), limitsWith({ rpm: 9 })],
  ['a removed limit by a command', () => run('keys change k --rpm none'), limitsWith({ rpm: undefined })],
  ['a budget by a command', () => run('keys change k --budget-day 9'), budgetWith({ day: 9 })],
  ['a disabled key by a command', () => run('keys change k --disable'), { enabled: false }],
  ['a rotation by a command', () => run('keys rotate k'), {}],
]

const OF_GROUPS: readonly Change[] = [
  ['models by the admin API', () => ask('PATCH', '/groups/g', { models: ['z'] }), { models: ['z'] }],
  ['a limit by the admin API', () => ask('PATCH', '/groups/g', { rpm: 9 }), limitsWith({ rpm: 9 })],
  ['a removed limit by the admin API', () => ask('PATCH', '/groups/g', { rpm: null }), limitsWith({ rpm: undefined })],
  ['models by a command', () => run('groups change g --models z'), { models: ['z'] }],
  ['a limit by a command', () => run('groups change g --rpm 9'), limitsWith({ rpm: 9 })],
  ['no formats by a command', () => run('groups change g --doors none'), { doors: undefined }],
]

const CASES = [
  ...OF_KEYS.map(([name, change, changes]) => ['access_keys', name, change, KEY_SETTINGS, changes] as const),
  ...OF_GROUPS.map(([name, change, changes]) => ['access_groups', name, change, GROUP_SETTINGS, changes] as const),
]

test.each(CASES)('%s: %s changes nothing else', async (table, _name, change, settings, changes) => {
  await inDatabase(server.path, `update ${table} set settings = '${JSON.stringify(settings)}'`)
  await change()
  const [row] = (await inDatabase(server.path, `select settings from ${table}`)) as readonly { settings: string }[]
  expect(JSON.parse(row!.settings)).toEqual({ ...settings, ...changes })
})

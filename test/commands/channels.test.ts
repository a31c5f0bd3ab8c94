import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { ANSWER } from '../builders/chat.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { openStoreAt, storeAt, written } from '../builders/engines.ts'
import { FakeUpstream } from '../builders/upstream.ts'

const closing = closingAfterEach()
const SECRET = 'sk-of-the-command-line-5Tg8Yh2J'
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'channels-'))
  configure('')
})
afterEach(() => rmSync(dir, { recursive: true }))

const configure = (more: string): void =>
  writeFileSync(
    join(dir, 'config.yaml'),
    `data_dir: ${dir}/data\nstore: "${written(storeAt(join(dir, 'data')))}"\nchannels: [{ name: fixed, provider: openai, key: k }]\n${more}`,
  )

/** Runs a command line with the config. */
async function run(...args: readonly string[]): Promise<{ code: number; out: string; fault: string }> {
  const out: string[] = []
  const fault: string[] = []
  const terminal = { out: (text: string) => out.push(text), fault: (text: string) => fault.push(text) }
  const code = await commandLine([...args, '-c', join(dir, 'config.yaml')], terminal)
  return { code, out: out.join('\n'), fault: fault.join('\n') }
}

/** Writes a file with channels, and returns its path. */
function file(text: string): string {
  const path = join(dir, 'channels.yaml')
  writeFileSync(path, text)
  return path
}

/** Starts an upstream, and stores a channel for it. */
async function added(): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open((response, { url }) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(url.endsWith('/models') ? { data: [{ id: 'm' }] } : ANSWER)),
  )
  closing.push(() => upstream.close())
  const url = `${upstream.address}/v1`
  const path = file(
    `{ name: mine, provider: custom, base_url: "${url}", formats: [chat], key: "\${MINE_KEY}", models: [m] }`,
  )
  process.env['MINE_KEY'] = SECRET
  closing.push(() => delete process.env['MINE_KEY'])
  expect(await run('channels', 'add', path)).toEqual({ code: 0, out: 'Added mine.', fault: '' })
  return upstream
}

const entries = async () => {
  const store = await openStoreAt(join(dir, 'data'))
  return store.config.entries().finally(() => store.close())
}

test('channels are added from a file, listed, tested and removed', async () => {
  const upstream = await added()
  const { out } = await run('channels', 'list')
  expect(out).toMatch(/^fixed +openai +config$/m)
  expect(out).toMatch(/^mine +custom +store +\d{4}-/m)
  const tested = await run('channels', 'test', 'mine')
  expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/^ok +m answers in \d+ ms; 1 model listed$/) })
  expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}`)
  upstream.script = response => response.writeHead(401).end('{}')
  expect(await run('channels', 'test', 'mine')).toMatchObject({
    code: 1,
    out: expect.stringContaining("check the channel's key"),
  })
  expect((await run('channels', 'test', 'unknown')).fault).toBe('there is no channel "unknown"')
  expect(await run('channels', 'remove', 'mine')).toMatchObject({ code: 0, out: 'Removed mine.' })
  expect(await run('channels', 'remove', 'mine')).toMatchObject({ code: 2 })
  expect(await entries()).toEqual([])
})

test('without channels in the config, stored ones replace the demo', async () => {
  const location = `data_dir: ${dir}/data\nstore: "${written(storeAt(join(dir, 'data')))}"\n`
  writeFileSync(join(dir, 'config.yaml'), location)
  expect((await run('channels', 'list')).out).toMatch(/^replay +replay +demo$/m)
  await run('channels', 'add', file('{ name: mine, provider: ollama }'))
  const { out } = await run('channels', 'list')
  expect(out).toMatch(/^mine +ollama +store/m)
  expect(out).not.toContain('replay')
})

test('of a file with a fault nothing is stored', async () => {
  const two = '[{ name: a, provider: openai, key: x }, { name: b, provider: openai, key: x, weigth: 2 }]'
  expect(await run('channels', 'add', file(two))).toMatchObject({
    ...{ code: 2, fault: 'channel b: weigth: unknown key; did you mean "weight"?' },
  })
  expect(await run('channels', 'add', file('{ name: fixed, provider: openai, key: x }'))).toMatchObject({ code: 2 })
  expect(await run('channels', 'add', file('{ provider: openai }'))).toMatchObject({ code: 2 })
  expect(await run('channels', 'add', file('{ name: "a\\0", provider: openai, key: x }'))).toMatchObject({ code: 2 })
  expect(await run('channels', 'add', file('just text'))).toMatchObject({ code: 2 })
  expect(await run('channels', 'add', file('channels: [{ name: c, provider: openai, key: x }]'))).toMatchObject({
    out: 'Added c.',
  })
  expect((await entries()).map(({ name }) => name)).toEqual(['c'])
})

test('credentials are encrypted again: with a new secret of the store, then with one of the config', async () => {
  const upstream = await added()
  const worksWith = async (keyId: string): Promise<string> => {
    const [entry] = await entries()
    expect(entry!.secrets!.keyId).not.toBe(keyId)
    expect((await run('channels', 'test', 'mine')).code).toBe(0)
    expect(upstream.seen.at(-1)!.headers['authorization']).toBe(`Bearer ${SECRET}`)
    return entry!.secrets!.keyId
  }
  const first = await worksWith('')
  expect((await run('store', 'encrypt-again')).out).toBe(
    'Encrypted the credentials of 1 channel with a new secret of the store.',
  )
  const second = await worksWith(first)
  configure(`encryption: { key: "a secret of this test with enough characters" }`)
  expect((await run('store', 'encrypt-again')).out).toBe(
    'Encrypted the credentials of 1 channel with `encryption.key`.',
  )
  await worksWith(second)
  configure(`encryption: { key: "another secret that decrypts nothing at all" }`)
  expect(await run('channels', 'test', 'mine')).toMatchObject({
    code: 2,
    fault: expect.stringContaining('another secret'),
  })
  const unread = await run('store', 'encrypt-again')
  expect(unread.fault).toBe('No secret decrypts the credentials of channel mine; they are left unchanged.')
  expect(unread.out).toContain('0 channels')
})

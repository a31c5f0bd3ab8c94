import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import { ENV, MAIN } from '../builders/paths.ts'
import { until } from '../builders/time.ts'

/* Starts with wrong options, files and clocks, and names that try to be commands or files of others. */

let dir: string
const running: ChildProcess[] = []
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hostile-start-'))
})
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  rmSync(dir, { recursive: true, force: true })
})

const KEY = 'key-of-the-hostile-start'
const CONFIG = {
  server: { port: 0, grace: '1s' },
  keys: [{ name: 'dev', key: KEY, group: 'default' }],
  channels: [
    {
      name: 'up',
      provider: 'custom',
      base_url: 'http://127.0.0.1:9/v1',
      formats: ['chat'],
      key: 'upstream-secret-1234',
      models: ['m'],
    },
  ],
}

const write = (config: unknown, name = 'interlingua.json') =>
  writeFileSync(
    join(dir, name),
    typeof config === 'string' || Buffer.isBuffer(config) ? config : JSON.stringify(config),
  )

/** Runs the program until it ends. */
const run = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [MAIN, ...words], {
    cwd: dir,
    env: { ...ENV, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })

/** Starts the gateway and waits until it listens. */
async function serve(words: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [MAIN, ...words], { cwd: dir, env: { ...ENV, ...env } })
  running.push(child)
  const written = { out: '', fault: '' }
  child.stdout.on('data', piece => (written.out += piece))
  child.stderr.on('data', piece => (written.fault += piece))
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  await until(() => /listens on \S+/.test(written.out) || child.exitCode !== null, 60_000)
  if (child.exitCode !== null) throw new Error(`it ended: ${written.fault}`)
  const address = /listens on (\S+)/.exec(written.out)![1]!
  return {
    written,
    address,
    models: (key = KEY) => fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${key}` } }),
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the tests look for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** Runs a command line in this process. */
async function command(...words: string[]): Promise<{ readonly status: number; readonly text: string }> {
  const printed: string[] = []
  const print = (text: string) => void printed.push(text)
  const status = await commandLine(words, { out: print, fault: print })
  return { status, text: printed.join('\n') }
}

describe('options of the wrong kind', () => {
  test.each([
    ...['x', '-1', '65536', '1e3', '', ' 1'].map(port => ['--port', port]),
    ...[
      ['--port'],
      ['--host', ''],
      ['--host', ' '],
      ['--config', tmpdir()],
      ['--config', '/dev/null/x'],
      ['--unheard'],
    ],
    ...[['--x'.repeat(100_000)], ['serve', 'more']],
  ])('%s %s is an error that says so, and starts nothing', async (...words) => {
    const { status, text } = await command(...words)
    expect([1, 2]).toContain(status)
    expect(text).not.toMatch(/\n {4}at |listens on/)
    expect(text.length).toBeGreaterThan(5)
  })
})

describe('files and names that are very large or no UTF-8', () => {
  test.each<[string, unknown]>([
    ['UTF-16', Buffer.from(`\ufeff${JSON.stringify(CONFIG)}`, 'utf16le')],
    ['bytes that are no text', Buffer.from([0, 1, 2, 0xff, 0xfe, 0x80])],
    ['a text of many megabytes', `# ${'x'.repeat(8_000_000)}\n`.repeat(2)],
    ['one name of half a megabyte', JSON.stringify({ ['x'.repeat(2 ** 19)]: 1 })],
    ['very many levels', '['.repeat(100_000)],
    ['Latin-1 in a key', Buffer.from(JSON.stringify(CONFIG).replace('dev', 'd\u00e9v'), 'latin1')],
  ])('%s give an error or a gateway, and no stack', async (_, config) => {
    write(config)
    const { status, text } = await command('check', join(dir, 'interlingua.json'))
    expect([0, 1]).toContain(status)
    expect(text).not.toMatch(/\n {4}at |RangeError:|TypeError:/)
    expect(text.length).toBeLessThan(600_000)
  })

  test('a byte order mark is no part of the config; odd paths and folders are used as they are', async () => {
    const data = join(dir, 'd\u00e4ta 😀\nx')
    write(`\ufeff${JSON.stringify({ ...CONFIG, data_dir: data })}`, 'c\u00f6nfig 😀.json')
    const gateway = await serve(['--config', 'c\u00f6nfig 😀.json'])
    expect((await gateway.models()).status).toBe(200)
    expect(gateway.written.out.split('\n').filter(line => line === 'x')).toEqual([])
    expect(await gateway.stop()).toBe(0)
  })
})

describe('names that try to be commands', () => {
  const EVIL = [
    `a'; touch pwned; '`,
    '$(touch pwned)',
    '`touch pwned`',
    '"; touch pwned; "',
    'a\ntouch pwned\n',
    '\u001b[2J\u001b]0;x\u0007',
  ]

  test('run nothing when a printed example is pasted, and move no cursor', () => {
    mkdirSync(join(dir, 'bin'))
    writeFileSync(join(dir, 'bin/curl'), '#!/bin/sh\nexit 0\n')
    chmodSync(join(dir, 'bin/curl'), 0o755)
    for (const evil of [EVIL.slice(0, 1), EVIL.slice(1)].map(all => all.join(' '))) {
      write({ ...CONFIG, channels: [{ ...CONFIG.channels[0], name: evil, models: [evil] }] })
      const { stdout, status } = run(['examples', '--address', 'http://127.0.0.1:9'])
      expect(status).toBe(0)
      expect(stdout).not.toMatch(CONTROLS)
      const lines = stdout.match(/^ {2}(?:curl|ID=).*$/gm) ?? []
      expect(lines.length).toBeGreaterThan(0)
      const env = { PATH: `${join(dir, 'bin')}:${ENV.PATH}` }
      spawnSync('sh', ['-c', lines.join('\n')], { cwd: dir, env })
      expect(existsSync(join(dir, 'pwned')), evil).toBe(false)
    }
  })

  test('stay in their line of the greeting and of the log', async () => {
    const channels = [
      { ...CONFIG.channels[0], name: 'a\n{"level":30,"msg":"forged"}\n\u001b[2J', models: ['m\u001b[2J\nforged'] },
    ]
    write({ ...CONFIG, channels })
    const started = await serve().catch((thrown: Error) => thrown)
    const written = started instanceof Error ? started.message : started.written.out + started.written.fault
    expect(written).not.toMatch(CONTROLS)
    expect(
      written.split('\n').filter(line => line.startsWith('{"level":30,"msg":"forged"') || line.startsWith('forged')),
    ).toEqual([])
    if (!(started instanceof Error)) await started.stop()
  })
})

describe('files of others', () => {
  test('what the gateway writes is for its owner alone, whatever the mask is', async () => {
    write(CONFIG)
    const child = spawn('sh', ['-c', 'umask 000; exec "$@"', 'sh', process.execPath, MAIN], { cwd: dir, env: ENV })
    running.push(child)
    let out = ''
    child.stdout.on('data', piece => (out += piece))
    await until(() => /listens on/.test(out), 60_000)
    const address = /listens on (\S+)/.exec(out)![1]!
    await fetch(`${address}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: '{"model":"m","input":"x"}',
    })
    child.kill('SIGTERM')
    await new Promise(resolve => child.once('exit', resolve))
    const all = (path: string): string[] => [
      path,
      ...(statSync(path).isDirectory() ? readdirSync(path).flatMap(name => all(join(path, name))) : []),
    ]
    for (const path of existsSync(join(dir, 'data')) ? all(join(dir, 'data')) : [])
      expect(statSync(path).mode & 0o077, path).toBe(0)
  })

  test('a link in place of the store leads nowhere that was not named; credentials are in no output', async () => {
    mkdirSync(join(dir, 'data'))
    writeFileSync(join(dir, 'victim'), 'a file of somebody else')
    symlinkSync(join(dir, 'victim'), join(dir, 'data/interlingua.sqlite'))
    write(CONFIG)
    const started = await serve().catch((thrown: Error) => thrown)
    const written = started instanceof Error ? started.message : started.written.out + started.written.fault
    expect(readFileSync(join(dir, 'victim'), 'utf8')).toBe('a file of somebody else')
    expect(written).not.toMatch(/upstream-secret|key-of-the-hostile/)
    if (!(started instanceof Error)) {
      expect((await started.models()).status).toBe(200)
      expect((await started.models('wrong')).status).toBeGreaterThanOrEqual(401)
      await started.stop()
    }
  })
})

describe('a signal to read the config again', () => {
  test.each([1, 2])('ends no gateway of %i processes that still starts, and loses no change', async workers => {
    // Many names in the config delay the start, so that it says what it does.
    const names = Object.fromEntries(Array.from({ length: 25_000 }, (_, at) => [`name-${at}`, `m-${at}`]))
    const config = (model: string) =>
      write({
        ...{ ...CONFIG, server: { ...CONFIG.server, workers } },
        channels: [{ ...CONFIG.channels[0], models: { ...names, [model]: model } }],
      })
    config('first')
    const child = spawn(process.execPath, [MAIN], { cwd: dir, env: ENV })
    running.push(child)
    const written = { out: '', fault: '' }
    child.stdout.on('data', piece => (written.out += piece))
    child.stderr.on('data', piece => (written.fault += piece))
    const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
    await until(() => /^starting: /m.test(written.fault) || hasEnded(), 60_000)
    expect(written.out).not.toContain('listens on')
    config('second')
    child.kill('SIGHUP')
    await until(() => /listens on \S+/.test(written.out) || hasEnded(), 60_000)
    expect(child.signalCode).toBe(null)
    const address = /listens on (\S+)/.exec(written.out)![1]!
    let models = ''
    const read = async () => {
      const answer = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })
      models = await answer.text()
    }
    while (!models.includes('"second"')) await read()
  })
})

describe('a clock', () => {
  /** Replaces the clock of a Node process by an expression. */
  const clock = (time: string): NodeJS.ProcessEnv => {
    const now = `static now() { return Math.trunc(${time}) }`
    const program = `const Real = Date; globalThis.Date = class extends Real {
      constructor(...all) { if (all.length === 0) super(globalThis.Date.now()); else super(...all) } ${now} }`
    return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` }
  }

  test.each([
    ['at its beginning', '0'],
    ['that jumps back and forth', `${Date.UTC(2026, 10, 29)} + 1e11 * Math.random()`],
  ])('%s lets a gateway start, answer and stop', async (_, time) => {
    write(CONFIG)
    const gateway = await serve([], clock(time))
    expect((await gateway.models()).status).toBe(200)
    expect((await gateway.models('wrong')).status).toBe(401)
    const start = performance.now()
    expect(await gateway.stop()).toBe(0)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(gateway.written.out + gateway.written.fault).not.toMatch(/RangeError|"level":50/)
  })
})

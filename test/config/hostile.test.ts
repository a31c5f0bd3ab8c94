// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import { execFileSync, spawnSync } from 'node:child_process'
import fs, { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { watchConfig } from '../../src/config/file.ts'
import { type Config, ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { DAY, MIB } from '../builders/units.ts'

/* Configs that are very large, that expand without end, whose faults are many, and whose files go away. */

const closing = closingAfterEach()
afterEach(() => vi.useRealTimers())

/** Reads a config or its faults, and returns the time that it takes in milliseconds. */
function timeOf(text: string, env: { readonly [name: string]: string } = {}) {
  const start = performance.now()
  let faults = 0
  try {
    readConfig(text, env)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    faults = thrown.faults.length
    expect(thrown.message.length).toBeLessThan(text.length * 4 + 100_000)
  }
  return { took: performance.now() - start, faults }
}

const rows = <T>(count: number, row: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => row(at))
const channel = (name: string, more: object = {}) => ({ name, provider: 'openai', key: 'k', models: ['m'], ...more })

describe('twice the entries take about twice the time', TIMED, () => {
  test.each<[string, (count: number) => unknown]>([
    ['channels', count => ({ channels: rows(count, at => channel(`c${at}`)) })],
    ['keys', count => ({ keys: rows(count, at => ({ name: `k${at}`, key: `key-${at}` })) })],
    [
      'models of a channel',
      count => ({ channels: [channel('c', { models: Object.fromEntries(rows(count, at => [`m${at}`, `u${at}`])) })] }),
    ],
    ['settings of models', count => ({ models: Object.fromEntries(rows(count, at => [`m${at}`, { context: 5 }])) })],
    ['unknown fields', count => Object.fromEntries(rows(count, at => [`unknown${at}`, 1]))],
    ['wrong values in a list', count => ({ channels: rows(count, at => channel(`c${at}`, { weight: 'x' })) })],
    [
      'wrong values in a map',
      count => ({ models: Object.fromEntries(rows(count, at => [`m${at}`, { context: 'x' }])) }),
    ],
    ['channels of one name', count => ({ channels: rows(count, () => channel('c')) })],
    [
      'keys of groups that are missing',
      count => ({ keys: rows(count, at => ({ name: `k${at}`, key: `key-${at}`, group: `g${at}` })) }),
    ],
    [
      'variables that are not set',
      count => ({ keys: rows(count, at => ({ name: `k${at}`, key: `\${UNSET_${at}}` })) }),
    ],
    ['variables', count => ({ keys: rows(count, at => ({ name: `k${at}`, key: `\${SET_${at}}` })) })],
    ['fallbacks', count => ({ channels: [channel('c')], models: { m: { fallbacks: rows(count, at => `f${at}`) } } })],
    ['patterns', count => ({ channels: rows(count, at => channel(`c${at}`, { models: [`m${at}-*`] })) })],
  ])('%s', (_, config) => {
    const env = Object.fromEntries(rows(4000, at => [`SET_${at}`, `value-of-variable-${at}`]))
    const time = (count: number) => timeOf(JSON.stringify(config(count)), env).took
    time(50)
    const [small, large] = [time(250), time(1000)]
    expect(large).toBeLessThan(10 * Math.max(small, 20))
  })

  test('very many channels of one name', () => {
    const time = (count: number) => timeOf(JSON.stringify({ channels: rows(count, () => channel('c')) })).took
    time(50)
    const [small, large] = [time(2500), time(20_000)]
    expect(large).toBeLessThan(10 * Math.max(small, 20))
  })

  test('aliases before a fault', () => {
    const text = (count: number) =>
      `x: &a { name: c }\ny: [${rows(count, () => '*a').join(', ')}]\nz: *unknown\n${rows(count, at => `k${at}: &b${at} 1`).join('\n')}`
    timeOf(text(50))
    const [small, large] = [timeOf(text(250)).took, timeOf(text(2000)).took]
    expect(large).toBeLessThan(24 * Math.max(small, 20))
  })

  test.each<[string, (count: number) => string]>([
    ['block', count => `models:\n${rows(count, at => `  m${at}: { context: 5 }`).join('\n')}`],
    ['flow', count => `models: { ${rows(count, at => `m${at}: { context: 5 }`).join(', ')} }`],
  ])('names in one %s map', (_, text) => {
    timeOf(text(100))
    const [small, large] = [timeOf(text(4000)).took, timeOf(text(32_000)).took]
    expect(large).toBeLessThan(16 * Math.max(small, 20))
  })

  test.each<[string, (count: number) => string]>([
    ['the beginnings of variables', count => '${A:-'.repeat(count)],
    ['variables in variables', count => `${'${A:-'.repeat(count)}${'}'.repeat(count)}`],
    ['names without end', count => `\${${'A'.repeat(count)}`],
    ['escapes', count => '$${'.repeat(count)],
    ['dollars', count => '$'.repeat(count)],
  ])('%s in a text', (_, text) => {
    const time = (count: number) => timeOf(JSON.stringify({ data_dir: text(count) }), { A: 'x' }).took
    time(100)
    const [small, large] = [time(5000), time(40_000)]
    expect(large).toBeLessThan(24 * Math.max(small, 20))
  })
})

describe('very large values', () => {
  test.each<[string, string]>([
    ['one text', JSON.stringify({ data_dir: 'x'.repeat(8 * MIB) })],
    ['one name', JSON.stringify({ ['x'.repeat(8 * MIB)]: 1 })],
    ['comments', `# ${'x'.repeat(100)}\n`.repeat(80_000)],
    ['blank lines', '\n'.repeat(MIB / 4)],
    ['a block of text', `data_dir: |\n${'  xxxxxxxx\n'.repeat(200_000)}`],
    ['levels', `data_dir: ${'['.repeat(20_000)}`],
    ['levels of blocks', rows(2000, at => `${' '.repeat(at)}a:`).join('\n')],
    ['quotes', `data_dir: ${'""'.repeat(20_000)}`],
    ['documents', '---\na: 1\n'.repeat(10_000)],
    ['tags and anchors', `data_dir: [${rows(5000, at => `!t${at} &a${at} x`).join(', ')}]`],
  ])('%s are read or refused within seconds', TIMED, (_, text) => {
    expect(timeOf(text).took).toBeLessThan(5000)
  })
})

describe('aliases that expand without end', () => {
  const levels = (count: number, level: (before: string) => string) =>
    ['a0: &a0 { x: 1 }', ...rows(count, at => `a${at + 1}: &a${at + 1} ${level(`*a${at}`)}`)].join('\n')
  test.each([
    ['lists', levels(9, before => `[${Array(9).fill(before).join(', ')}]`)],
    ['maps', levels(40, before => `{ p: ${before}, q: ${before} }`)],
    ['merges', levels(40, before => `{ p: { <<: ${before} }, q: { <<: ${before} } }`)],
    ['keys', levels(20, before => `{ ? ${before} : ${before} }`)],
    ['themselves', 'a: &a [*a]'],
    ['themselves by merging', 'a: &a { b: 1, <<: *a }'],
  ])('of %s are faults, and cost no memory', (_, text) => {
    const before = process.memoryUsage().heapUsed
    const { took, faults } = timeOf(`${text}\nchannels: *a0`)
    expect(took).toBeLessThan(3000)
    expect(faults).toBeGreaterThan(0)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(300 * MIB)
  })
})

describe('a config file in use', TIMED, () => {
  function watch() {
    const dir = mkdtempSync(join(tmpdir(), 'hostile-config-'))
    const path = join(dir, 'interlingua.yaml')
    closing.push(() => rmSync(dir, { recursive: true, force: true }))
    writeFileSync(path, 'data_dir: first\n')
    const configs: Config[] = []
    const faults: Error[] = []
    const { close } = watchConfig(
      path,
      config => configs.push(config),
      fault => faults.push(fault),
      {},
    )
    closing.push(close)
    return { dir, path, configs, faults }
  }

  test('that turns into a folder, a link to itself, a device or nothing is a fault, and is used again when it is back', async () => {
    const { path, configs, faults } = watch()
    const replacements: (() => void)[] = [
      () => mkdirSync(path),
      () => execFileSync('ln', ['-s', path, path]),
      () => execFileSync('ln', ['-s', '/dev/zero', path]),
      () => execFileSync('ln', ['-s', `${path}.missing`, path]),
    ]
    for (const [at, replace] of replacements.entries()) {
      rmSync(path, { recursive: true, force: true })
      replace()
      await until(() => faults.length > at)
      expect(configs).toHaveLength(at)
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, `data_dir: back-${at}\n`)
      await until(() => configs.length === at + 1)
      faults.length = at + 1
    }
    for (const fault of faults) expect(fault.message).not.toMatch(/\n {4}at /)
  })

  test('that turns into a pipe without a writer stops no process', () => {
    const dir = mkdtempSync(join(tmpdir(), 'hostile-config-'))
    closing.push(() => rmSync(dir, { recursive: true, force: true }))
    const program = `
      const { watchConfig } = await import(${JSON.stringify(join(process.cwd(), 'src/config/file.ts'))})
      const { writeFileSync, rmSync } = await import('node:fs')
      const { execFileSync } = await import('node:child_process')
      writeFileSync('c.yaml', 'data_dir: x\\n')
      watchConfig('c.yaml', () => {}, fault => { console.log(fault.message); process.exit(0) }, {})
      rmSync('c.yaml')
      execFileSync('mkfifo', ['c.yaml'])
      setTimeout(() => process.exit(3), 5000)`
    const { status, stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      ...{ cwd: dir, encoding: 'utf8', timeout: 10_000, killSignal: 'SIGKILL' },
    })
    expect([signal, status, stdout]).toEqual([null, 0, expect.stringContaining('c.yaml')])
  })

  test('of the past, of the future or of the same time is read when it changes, whatever the clock says', async () => {
    const { dir, path, configs } = watch()
    let count = 0
    for (const time of [new Date(0), new Date(Date.now() + 400 * DAY), new Date(0), new Date(1)]) {
      if (count === 2) vi.useFakeTimers({ toFake: ['Date'], now: 0 })
      writeFileSync(join(dir, 'next'), `data_dir: at-${count++}\n`)
      utimesSync(join(dir, 'next'), time, time)
      renameSync(join(dir, 'next'), path)
      await until(() => configs.length === count)
    }
    await pause(600)
    expect(configs).toHaveLength(4)
  })

  test('on a drive that hangs is asked for once at a time, and read when the drive is back', async () => {
    const real = fs.stat
    const waiting: (() => void)[] = []
    const { path, configs } = watch()
    closing.push(() => {
      fs.stat = real
      syncBuiltinESMExports()
    })
    fs.stat = ((...args: Parameters<typeof real>) => waiting.push(() => real(...args))) as never
    syncBuiltinESMExports()
    writeFileSync(path, 'data_dir: later\n')
    await pause(1500)
    expect(waiting).toHaveLength(1)
    fs.stat = real
    syncBuiltinESMExports()
    waiting[0]!()
    await until(() => configs.length === 1)
  })

  test('with keys that expire is read at any time', () => {
    const config = JSON.stringify({
      keys: [{ name: 'k', key: 'key-1', expires: '2020-01-01T00:00:00Z', capture: '1999-01-01T00:00:00Z' }],
    })
    for (const now of [0, -1e12, 8.64e15, Date.now()]) {
      vi.useFakeTimers({ toFake: ['Date'], now })
      const { took } = timeOf(config)
      expect(took).toBeLessThan(5000)
    }
  })
})

import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/canonical/node.ts'
import { type Work, workOf } from '../../src/canonical/work.ts'
import { WRITERS } from '../../src/egress/index.ts'
import type { Flags } from '../../src/formats/dialects/flag.ts'
import { DIALECT_FLAGS, expectedOf, FLAGS_OF } from '../../src/formats/dialects/index.ts'
import { FORMAT_FACTS, fitnessOf, isDirect } from '../../src/formats/index.ts'
import { readDialect as readLive } from '../../src/voice/formats/live/dialect.ts'
import { readDialect as readRealtime } from '../../src/voice/formats/realtime/dialect.ts'
import { FIXTURES, requestTo } from '../golden.ts'

const TABLES = Object.entries(FLAGS_OF)

const defaultsOf = (table: Flags): { readonly [name: string]: Json } =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, flag]) => (flag.default === undefined ? [] : [[name, flag.default as Json]])),
  )

const sourcesBelow = (...folders: string[]): string =>
  globSync(folders.map(folder => `src/${folder}/**/*.ts`))
    .map(file => readFileSync(file, 'utf8'))
    .join('\n')

describe('the dialect flags', () => {
  it('have a row for each file, and are of formats that upstreams use', () => {
    const files = globSync('src/formats/dialects/*.ts').map(file => basename(file, '.ts'))
    const others = ['flag', 'index', 'shared-flags']
    for (const format of files.filter(name => !others.includes(name))) expect(FLAGS_OF).toHaveProperty(format)
    for (const format of Object.keys(FLAGS_OF)) expect(FORMAT_FACTS.has(format), format).toBe(true)
  })

  it('have one meaning, and one type, in all formats', () => {
    for (const [format, table] of TABLES)
      for (const [name, { values, meaning }] of Object.entries(table)) {
        const flag = DIALECT_FLAGS.get(name)!
        expect(flag.meaning, `${format}: ${name}`).toBe(meaning)
        expect(typeof flag.values, `${format}: ${name}`).toBe(typeof values)
        expect(flag.formats).toContain(format)
      }
  })

  it('are all obeyed, by the format itself, the gateway or the channel', () => {
    const gateway =
      sourcesBelow('gateway', 'egress/media', 'egress/sanitize') + readFileSync('src/formats/auth.ts', 'utf8')
    for (const [format, table] of TABLES) {
      const source = sourcesBelow(`egress/${format}`, `voice/formats/${format}`) + gateway
      for (const name of Object.keys(table)) {
        const isWork = fitnessOf(format, name as Work, { [name]: false }) !== fitnessOf(format, name as Work)
        expect(isWork || new RegExp(`\\b${name}\\b`).test(source), `${format}: ${name}`).toBe(true)
      }
    }
  })

  it('have defaults that are valid, and change nothing of a request if they are declared', () => {
    for (const [format, table] of TABLES) {
      const dialect = defaultsOf(table)
      for (const [name, value] of Object.entries(dialect)) expect(expectedOf(name, value), name).toBeUndefined()
      for (const fixture of FIXTURES.filter(({ kind }) => kind === 'request')) {
        const write = WRITERS[format]?.request
        const request = write && requestTo(fixture, format)
        if (request === undefined || !isDirect(fitnessOf(format, workOf(request)))) continue
        const native = fixture.format === format
        const written = (flags: JsonObject): unknown => write!(request, { dialect: flags, native })
        expect(written(dialect), `${fixture.path} to ${format}`).toEqual(written({}))
      }
    }
  })

  it('have defaults that change nothing of a voice session if they are declared', () => {
    expect(readRealtime(defaultsOf(FLAGS_OF['realtime']!))).toEqual(readRealtime({}))
    for (const model of ['gemini-3', 'gemini-2.5-native-audio'])
      expect(readLive(defaultsOf(FLAGS_OF['live']!), model)).toEqual(readLive({}, model))
  })

  it('say what a value must be', () => {
    expect(expectedOf('store', 'false')).toBe('true or false')
    expect(expectedOf('limit_field', 'max_output')).toBe('max_completion_tokens or max_tokens')
    expect(expectedOf('batch', '96')).toBe('a number')
    expect(expectedOf('efforts', 'low')).toBe('a list of strings')
    expect(expectedOf('version', 1)).toBe('a string')
    expect(expectedOf('voices', { alloy: 1 })).toBe('a map of strings')
    expect(expectedOf('voices', { alloy: 'af_bella' })).toBeUndefined()
    expect(expectedOf('unheard_of', 1)).toBeUndefined()
  })

  it('have the values of all formats', () => {
    for (const value of ['cache_control', 'auto', 'off']) expect(expectedOf('cache', value)).toBeUndefined()
    expect(expectedOf('cache', 'on')).toBe('none or cache_control or prompt_cache_breakpoint or auto or off')
  })
})

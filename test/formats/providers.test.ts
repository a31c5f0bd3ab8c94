import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { DIALECT_FLAGS, expectedOf } from '../../src/formats/dialects.ts'
import { FLAG_MEANINGS } from '../../src/formats/flag-meanings.ts'
import { allowedBetas, authHeaders, baseUrlFor, FORMATS, fitnessOf, PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

const rows = [...PRESETS.values()].flatMap(preset => preset.formats.map(row => ({ preset, row })))

describe('presets', () => {
  it('name each format once, and only formats there are', () => {
    for (const { formats } of PRESETS.values()) {
      const names = formats.map(({ format }) => format)
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(FORMATS.has(name)).toBe(true)
    }
  })

  it('write addresses as the config does', () => {
    for (const { row } of rows)
      if (row.baseUrl !== undefined) expect(row.baseUrl).toBe(baseUrlFor(row.format, row.baseUrl, false))
  })

  it('declare only dialect flags there are, with values they may have', () => {
    for (const { row } of rows)
      for (const [flag, value] of Object.entries(row.dialect ?? {})) {
        expect(DIALECT_FLAGS.has(flag), flag).toBe(true)
        expect(expectedOf(flag, value), flag).toBeUndefined()
      }
  })

  it('have every dialect flag, with what it may be, in the table for operators', () => {
    const rows = readFileSync('docs/dialects.md', 'utf8').matchAll(/^\| `(\w+)` \|[^|]*\|([^|]*)\|/gm)
    const told = new Map([...rows].map(([, flag, may]) => [flag!, may!]))
    expect([...told.keys()].sort()).toEqual([...DIALECT_FLAGS.keys()].sort())
    for (const [flag, may] of DIALECT_FLAGS)
      for (const word of Array.isArray(may) ? may : []) expect(told.get(flag), flag).toContain(`\`${word}\``)
  })

  it('have the same words for each dialect flag there and for administrators', () => {
    const rows = readFileSync('docs/dialects.md', 'utf8').matchAll(/^\| `(\w+)` \| ([^|]+) \|[^|]*\| (.+) \|$/gm)
    const told = [...rows].map(
      ([, flag, formats, meaning]) => [flag!, { formats: formats!.split(', '), meaning }] as const,
    )
    expect(new Map(told)).toEqual(FLAG_MEANINGS)
  })

  it('know every dialect flag a writer obeys', async () => {
    for (const format of Object.keys(WRITERS)) {
      const path = join(import.meta.dirname, `../../src/egress/${format}/dialect.ts`)
      if (!existsSync(path)) continue
      const { FLAGS = [] } = (await import(path)) as { FLAGS?: readonly string[] }
      for (const flag of FLAGS) expect(DIALECT_FLAGS.has(flag), `${format}: ${flag}`).toBe(true)
    }
  })

  it('know what a dialect flag may be', () => {
    expect(expectedOf('store', 'false')).toBe('true or false')
    expect(expectedOf('limit_field', 'max_output')).toBe('max_completion_tokens or max_tokens')
    expect(expectedOf('batch', '96')).toBe('a number')
    expect(expectedOf('voices', { alloy: 1 })).toBe('a map of texts')
    expect(expectedOf('voices', { alloy: 'af_bella' })).toBeUndefined()
    expect(expectedOf('unheard_of', 1)).toBeUndefined()
  })

  it('know every format in which an upstream can be asked, and no other', () => {
    for (const [format, { request }] of Object.entries(WRITERS))
      expect(FORMATS.has(format), format).toBe(request !== undefined)
    for (const [format, { does }] of FORMATS) {
      if (does[0] === 'realtime') continue
      expect(WRITERS[format]?.request, format).toBeDefined()
      expect(READERS[format]?.result, format).toBeDefined()
    }
  })
})

describe('formats', () => {
  it('can stand in for each other where they do the same work', () => {
    for (const format of ['chat', 'responses', 'messages', 'contents'])
      expect(fitnessOf(format, 'conversation')).toBe('made-for-it')
    expect(fitnessOf('embeddings', 'conversation')).toBeUndefined()
    expect(fitnessOf('contents', 'embedding')).toBe('able')
    expect(fitnessOf('embeddings', 'ranking')).toBe('emulated')
    expect(fitnessOf('something-new', 'conversation')).toBeUndefined()
  })
})

describe('auth', () => {
  it('shows the key as the vendor wants it', () => {
    expect(authHeaders('bearer', 'k')).toEqual({ authorization: 'Bearer k' })
    expect(authHeaders('x-api-key', 'k')).toEqual({ 'x-api-key': 'k' })
    expect(authHeaders('x-goog-api-key', 'k')).toEqual({ 'x-goog-api-key': 'k' })
    expect(authHeaders('api-key', 'k')).toEqual({ 'api-key': 'k' })
    expect(authHeaders('bearer', undefined)).toEqual({})
    expect(authHeaders('none', 'k')).toEqual({})
  })
})

describe('trap 79: anthropic-beta', () => {
  it('is passed on, filtered or dropped by the channel', () => {
    expect(allowedBetas('allow', 'a-1, b-2')).toBe('a-1, b-2')
    expect(allowedBetas('none', 'a-1')).toBeUndefined()
    expect(allowedBetas(['b-2', 'c-3'], 'a-1, b-2')).toBe('b-2')
    expect(allowedBetas(['c-3'], 'a-1')).toBeUndefined()
    expect(allowedBetas('allow', undefined)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { WRITERS } from '../../src/egress/index.ts'
import { DIALECT_FLAGS, expectedOf } from '../../src/formats/dialects/index.ts'
import { allowedBetas, authHeaders, baseUrlFor, FORMAT_FACTS, fitnessOf, PRESETS } from '../../src/formats/index.ts'
import { READERS } from '../../src/ingress/index.ts'

const rows = [...PRESETS.values()].flatMap(preset => preset.formats.map(row => ({ preset, row })))

describe('presets', () => {
  it('name each format once, and only formats there are', () => {
    for (const { formats } of PRESETS.values()) {
      const names = formats.map(({ format }) => format)
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(FORMAT_FACTS.has(name)).toBe(true)
    }
  })

  it('write addresses as the config does', () => {
    for (const { row } of rows)
      if (row.baseUrl !== undefined && row.below === undefined)
        expect(row.baseUrl).toBe(baseUrlFor(row.format, row.baseUrl, false))
  })

  it('declare only dialect flags there are, with values they may have', () => {
    for (const { row } of rows)
      for (const [flag, value] of Object.entries(row.dialect ?? {})) {
        expect(DIALECT_FLAGS.has(flag), flag).toBe(true)
        expect(expectedOf(flag, value), flag).toBeUndefined()
      }
  })

  it('know every format in which an upstream can be asked, and no other', () => {
    for (const [format, { request }] of Object.entries(WRITERS))
      expect(FORMAT_FACTS.has(format), format).toBe(request !== undefined)
    for (const [format, { does }] of FORMAT_FACTS) {
      if (does[0] === 'realtime') continue
      expect(WRITERS[format]?.request, format).toBeDefined()
      expect(READERS[format]?.result, format).toBeDefined()
    }
  })
})

describe('formats', () => {
  it('can stand in for each other where they do the same work', () => {
    for (const format of ['chat', 'responses', 'messages', 'contents'])
      expect(fitnessOf(format, 'conversation')).toBe('primary')
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

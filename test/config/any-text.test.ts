// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in a config look like that
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONFIG_SCHEMA, ConfigError } from '../../src/config/index.ts'
import { readConfig } from '../../src/config/read.ts'

/** Reads a text as a config. Any result but a config or a list of faults with lines is a fault of the gateway. */
function total(text: string): void {
  try {
    readConfig(text, { A: '1' })
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    expect(thrown.faults.length).toBeGreaterThan(0)
    for (const { line, message } of thrown.faults) {
      expect(line).toBeGreaterThan(0)
      expect(message).not.toBe('')
    }
  }
}

const KEYS = Object.keys(CONFIG_SCHEMA.entries)
const key = fc.constantFrom(
  ...KEYS,
  'name',
  'provider',
  'key',
  'formats',
  'models',
  'price',
  '__proto__',
  'constructor',
)
const rubbish = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'x',
      '5s',
      '32MiB',
      'openai',
      'custom',
      'chat',
      '${A}',
      '${B}',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map(entries => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${text(value)}`).join(',')}}`)
      .map(json => ({ json })),
  ),
})).value

/** Returns JSON. Maps become text, so that none of their keys has a special meaning. */
function text(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(text).join(',')}]`
  return typeof value === 'object' && value !== null ? (value as { json: string }).json : JSON.stringify(value)
}

describe('reading a config is total', () => {
  it('on any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 40 }), total))
  })

  it('on any JSON with the words of a config in it', () => {
    fc.assert(
      fc.property(rubbish, value => total(text(value))),
      { numRuns: 500 },
    )
  })

  it('and keeps prototypes as they are', () => {
    expect(() => readConfig('{"groups": {"__proto__": {"rpm": 1}}}', {})).not.toThrow()
    expect(() => readConfig('{"__proto__": 1}', {})).toThrow(ConfigError)
    expect(({} as { rpm?: number }).rpm).toBeUndefined()
  })
})

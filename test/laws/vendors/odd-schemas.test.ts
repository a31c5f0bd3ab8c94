import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { WRITERS } from '../../../src/egress/index.ts'
import { PRESETS } from '../../../src/formats/presets.ts'
import { FOREIGN } from '../../builders/write-options.ts'
import { oddSchema } from '../odd-schemas.ts'
import { holdsForPair } from '../support.ts'
import { askedWithTool, schemasOfTools } from './asked.ts'
import { isUnsound } from './schemas.ts'

/* What becomes of odd schemas on their way to a vendor, judged by a validator. */

const FORMATS: readonly (readonly [format: string, preset: string])[] = [
  ...([
    ['chat', 'openai'],
    ['chat', 'groq'],
    ['chat', 'moonshot'],
    ['chat', 'llama-cpp'],
  ] as const),
  ...([
    ['responses', 'openai'],
    ['responses', 'xai'],
    ['messages', 'anthropic'],
    ['cohere-chat', 'cohere'],
  ] as const),
  ...([
    ['converse', 'bedrock-converse'],
    ['contents', 'google'],
  ] as const),
]

const VALUES: readonly Json[] = [
  ...[{}, { a: 'a' }, { a: null }, { a: 1 }, { a: true }, { a: [] }, { a: ['a', 1] }, { a: {} }, { a: { a: 'b' } }],
  ...[{ b: 'a' }, { a: 'a', b: 'b' }, { a: '', b: {} }, { type: 'a' }, { required: 'a' }, { next: {} }, { a: 'x-1' }],
]

/** Returns a validator, or undefined for a schema that the validator does not take, such as one with remote references or a circle of them. */
function validatorOf(schema: JsonObject): ((value: Json) => boolean) | undefined {
  try {
    const { $schema: _, ...undeclared } = schema
    const check = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(undeclared)
    check({})
    return value => check(value) as boolean
  } catch {
    return undefined
  }
}

describe.each(FORMATS)('odd schemas in %s for %s', (format, preset) => {
  const dialect = PRESETS.get(preset)?.formats.find(one => one.format === format)?.dialect ?? {}
  const write = (schema: JsonObject) => {
    const { wire, losses } = WRITERS[format]!.request!(askedWithTool(schema), { ...FOREIGN, dialect })
    const [written] = schemasOfTools(wire.body['toolConfig'] ?? wire.body)
    return {
      written: written as JsonObject,
      reasons: losses.flatMap(({ path, reason }) => (path[0] === 'tools' ? [reason] : [])),
    }
  }

  it('report each change', () => {
    holdsForPair(oddSchema, schema => {
      const { written, reasons } = write(schema)
      if (JSON.stringify(written) !== JSON.stringify(schema)) expect(reasons).not.toEqual([])
    })
  })

  it('allow each value that the caller allows', () => {
    holdsForPair(oddSchema, schema => {
      const asked = isUnsound(schema) ? undefined : validatorOf(schema)
      const { written } = write(schema)
      const kept = asked && validatorOf(written)
      if (asked === undefined || kept === undefined) return
      for (const value of VALUES) if (asked(value)) expect([value, kept(value)]).toEqual([value, true])
    })
  })

  it('allow no other values if their fields were only completed', () => {
    holdsForPair(oddSchema, schema => {
      const { written, reasons } = write(schema)
      if (reasons.some(reason => reason !== 'minted-schema-fields')) return
      const [asked, kept] = isUnsound(schema) ? [] : [validatorOf(schema), validatorOf(written)]
      if (asked === undefined || kept === undefined) return
      for (const value of VALUES) expect([value, kept(value)]).toEqual([value, asked(value)])
    })
  })
})

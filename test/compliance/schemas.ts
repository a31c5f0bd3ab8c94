import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

/** Where the OpenResponses description is, which is no part of this project. */
const FILE = process.env['OPENRESPONSES'] ?? '../shared/specs/openresponses-2026-04-24-openapi.json'

/** The suite runs where the description is at hand. */
export const HAS_SCHEMAS = existsSync(FILE)

interface Description {
  readonly components: { readonly schemas: { readonly [name: string]: object } }
}

const DESCRIPTION: Description = HAS_SCHEMAS ? JSON.parse(readFileSync(FILE, 'utf8')) : { components: { schemas: {} } }
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
ajv.addSchema(DESCRIPTION, 'openresponses')

const EVENTS = Object.keys(DESCRIPTION.components.schemas).filter(name => name.endsWith('StreamingEvent'))

const validator = (name: string) => ajv.getSchema(`openresponses#/components/schemas/${name}`)!

/** What is wrong with a value, by the schema of that name. */
function faults(name: string, value: unknown): string | undefined {
  const validate = validator(name)
  if (validate(value)) return undefined
  return `${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 600)}`
}

export const expectSchema = (name: string, value: unknown): void => expect(faults(name, value)).toBeUndefined()

/** The keys that values of the schema always have; none where the description is not at hand. */
export const requiredOf = (name: string): readonly string[] =>
  (DESCRIPTION.components.schemas[name] as { required?: readonly string[] } | undefined)?.required ?? []

/** The name of the schema that an event's type belongs to. */
const BY_TYPE = new Map(
  EVENTS.map(name => {
    const { properties } = DESCRIPTION.components.schemas[name] as {
      properties: { type: { enum: readonly [string] } }
    }
    return [properties.type.enum[0], name] as const
  }),
)

/** Every event is one of the description's, and in order. */
export function expectEvents(events: readonly { readonly type: string; readonly sequence_number?: number }[]): void {
  expect(events.length).toBeGreaterThan(0)
  for (const [index, event] of events.entries()) {
    const name = BY_TYPE.get(event.type)
    expect(name, event.type).toBeDefined()
    expectSchema(name!, event)
    expect(event.sequence_number).toBe(index)
  }
}

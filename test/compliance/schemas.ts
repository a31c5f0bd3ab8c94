import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

/** File of the OpenResponses description, which is no part of this project. */
const FILE = process.env['OPENRESPONSES'] ?? '../shared/specs/openresponses-2026-04-24-openapi.json'

/** Whether the description is available. The suite runs only then. */
export const HAS_SCHEMAS = existsSync(FILE)

interface Description {
  readonly components: { readonly schemas: { readonly [name: string]: object } }
}

const DESCRIPTION: Description = HAS_SCHEMAS ? JSON.parse(readFileSync(FILE, 'utf8')) : { components: { schemas: {} } }
const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
ajv.addSchema(DESCRIPTION, 'openresponses')

const EVENTS = Object.keys(DESCRIPTION.components.schemas).filter(name => name.endsWith('StreamingEvent'))

const validator = (name: string) => ajv.getSchema(`openresponses#/components/schemas/${name}`)!

/** Returns the faults of a value by the schema of that name. */
function faults(name: string, value: unknown): string | undefined {
  const validate = validator(name)
  if (validate(value)) return undefined
  return `${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 600)}`
}

export const expectSchema = (name: string, value: unknown): void => expect(faults(name, value)).toBeUndefined()

/** Returns the keys that values of the schema always have. None without the description. */
export const requiredOf = (name: string): readonly string[] =>
  (DESCRIPTION.components.schemas[name] as { required?: readonly string[] } | undefined)?.required ?? []

/** Names of the schemas by the type of event. */
const BY_TYPE = new Map(
  EVENTS.map(name => {
    const { properties } = DESCRIPTION.components.schemas[name] as {
      properties: { type: { enum: readonly [string] } }
    }
    return [properties.type.enum[0], name] as const
  }),
)

/** Checks that every event is in the description, and that the order is right. */
export function expectEvents(events: readonly { readonly type: string; readonly sequence_number?: number }[]): void {
  expect(events.length).toBeGreaterThan(0)
  for (const [index, event] of events.entries()) {
    const name = BY_TYPE.get(event.type)
    expect(name, event.type).toBeDefined()
    expectSchema(name!, event)
    expect(event.sequence_number).toBe(index)
  }
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { DATA } from './data.ts'

/** A deviation of the publisher's own service from the published schema. */
export interface SchemaException {
  readonly schema: RegExp
  readonly fault: RegExp
  readonly why: string
}

interface SchemaFile {
  readonly components: object
}

/** Faults of one value that are reported. */
const MOST = 5

/** Values of which all faults are found; of larger ones only the first, because each fault takes memory. */
const MOST_VALUES = 20_000

function isLarge(value: unknown): boolean {
  let count = 0
  const visit = (one: unknown): boolean =>
    ++count > MOST_VALUES || (typeof one === 'object' && one !== null && Object.values(one).some(visit))
  return visit(value)
}

const validators = new Map<string, Ajv2020>()

/** The file of a format's schemas: one of its own, or that of its family, which is its first word. */
export function schemaFileOf(format: string): string {
  const own = `${format}.json`
  return existsSync(join(DATA, 'schemas', own)) ? own : `${format.split('.', 1)[0]}.json`
}

function validatorOf(format: string, allErrors: boolean): Ajv2020 {
  const key = `${format} ${allErrors}`
  let ajv = validators.get(key)
  if (ajv === undefined) {
    const file = join(DATA, 'schemas', schemaFileOf(format))
    const { components } = JSON.parse(readFileSync(file, 'utf8')) as SchemaFile
    ajv = new Ajv2020({ strict: false, allErrors, validateFormats: false, inlineRefs: false })
    ajv.addSchema({ components }, 'published')
    validators.set(key, ajv)
  }
  return ajv
}

/**
 * What is wrong with a value by the published schema of that name, one line per fault.
 *
 * Indexes of lists are `#` in the lines. Throws where the kit has no such schema: that is the kit's own fault.
 */
export function schemaFaults(
  format: string,
  name: string,
  value: unknown,
  exceptions: readonly SchemaException[],
): readonly string[] {
  const validate = validatorOf(format, !isLarge(value)).getSchema(`published#/components/schemas/${name}`)
  if (validate === undefined) throw new Error(`The kit has no schema ${name} for ${format}.`)
  if (validate(value)) return []
  const excused = exceptions.filter(({ schema }) => schema.test(name))
  const errors = validate.errors!
  const telling = errors.filter(({ keyword }) => keyword !== 'if' && keyword !== 'anyOf')
  return (telling.length > 0 ? telling : errors)
    .map(
      ({ instancePath, message, params }) =>
        `${instancePath.replace(/\/\d+(?=\/|$)/g, '/#')} ${message} ${JSON.stringify(params).slice(0, 200)}`,
    )
    .filter(line => !excused.some(({ fault }) => fault.test(line)))
    .slice(0, MOST)
}

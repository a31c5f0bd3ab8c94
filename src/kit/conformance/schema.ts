import { readFileSync } from 'node:fs'
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

/** Maximum number of faults reported of one value. */
const MOST = 5

/**
 * Maximum number of values of which all faults are found. Larger bodies report only the first fault, because each takes
 * memory.
 */
const MOST_VALUES = 20_000

function isLarge(value: unknown): boolean {
  let count = 0
  const visit = (one: unknown): boolean =>
    ++count > MOST_VALUES || (typeof one === 'object' && one !== null && Object.values(one).some(visit))
  return visit(value)
}

const validators = new Map<string, Ajv2020>()

function validatorOf(format: string, allErrors: boolean): Ajv2020 {
  const key = `${format} ${allErrors}`
  let ajv = validators.get(key)
  if (ajv === undefined) {
    const file = JSON.parse(readFileSync(join(DATA, 'schemas', `${format}.json`), 'utf8')) as SchemaFile
    ajv = new Ajv2020({ strict: false, allErrors, validateFormats: false, inlineRefs: false })
    ajv.addSchema({ components: file.components }, 'published')
    validators.set(key, ajv)
  }
  return ajv
}

/**
 * Returns the faults of a value by the published schema of that name, one line per fault.
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

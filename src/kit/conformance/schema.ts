import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { DATA } from './data.ts'

/** A known deviation of the publisher's service from the published schema. */
export interface SchemaException {
  readonly schema: RegExp
  readonly fault: RegExp
  readonly why: string
}

interface SchemaFile {
  readonly source?: string
  readonly components: object
}

/** Maximum number of faults reported per value. */
const MAX_FAULTS = 5

/**
 * Maximum number of JSON values for which all faults are collected. For larger bodies, only the first fault is
 * reported, because faults take memory, and ajv copies those it has for each further item with a fault.
 */
const MAX_FULLY_CHECKED = 5000

function isLarge(value: unknown): boolean {
  let count = 0
  const visit = (one: unknown): boolean =>
    ++count > MAX_FULLY_CHECKED || (typeof one === 'object' && one !== null && Object.values(one).some(visit))
  return visit(value)
}

const validators = new Map<string, Ajv2020>()

/** Returns the file with a format's schemas, which is named after the format or the first word of its name. */
export function schemaFileOf(format: string): string {
  const own = `${format}.json`
  return existsSync(join(DATA, 'schemas', own)) ? own : `${format.split('.', 1)[0]}.json`
}

/** Returns the source of a format's schemas, or undefined for formats without schemas. */
export function schemaSource(format: string): string | undefined {
  const file = join(DATA, 'schemas', schemaFileOf(format))
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SchemaFile).source : undefined
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

/** Findings about one value, one line each. Lines show `#` instead of list indexes. */
export interface SchemaFindings {
  readonly faults: readonly string[]
  /**
   * Required fields that are absent although they may be null and, in answers, optional fields that are null. Most
   * readers treat null and absent fields alike.
   */
  readonly absent: readonly string[]
}

const NO_FINDINGS: SchemaFindings = { faults: [], absent: [] }

const lineOf = ({ instancePath, message, params }: ErrorObject): string =>
  `${instancePath.replace(/\/\d+(?=\/|$)/g, '/#')} ${message} ${JSON.stringify(params).slice(0, 200)}`

const missingIn = ({ instancePath, params }: ErrorObject): string => `${instancePath}/${params['missingProperty']}`

interface Named {
  [name: string]: unknown
}

/** Decodes one name of a JSON pointer (https://www.rfc-editor.org/rfc/rfc6901). */
const unescaped = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')

const namesOf = (path: string): string[] => path.split('/').slice(1).map(unescaped)

const valueAt = (value: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (inner as Named)[name], value)

/** Copies a value and sets every absent field to null. */
function withNulls(value: unknown, absent: readonly ErrorObject[]): unknown {
  const copy = structuredClone(value)
  for (const { instancePath, params } of absent)
    (valueAt(copy, namesOf(instancePath)) as Named)[params['missingProperty']] = null
  return copy
}

/** Copies a value without the fields at the given paths. */
function withoutPaths(value: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(value)
  for (const names of paths.map(namesOf)) delete (valueAt(copy, names.slice(0, -1)) as Named)[names.at(-1)!]
  return copy
}

/** Returns the paths of fields that are null although their schema does not allow null. List entries are not fields. */
const nullsIn = (value: unknown, errors: readonly ErrorObject[]): string[] =>
  [...new Set(errors.map(({ instancePath }) => instancePath))].filter(path => {
    const names = namesOf(path)
    return names.length > 0 && valueAt(value, names) === null && !Array.isArray(valueAt(value, names.slice(0, -1)))
  })

/** A value, and the schema that it must match. */
interface CheckedValue {
  readonly validate: ValidateFunction
  readonly value: unknown
  readonly excused: readonly SchemaException[]
}

function validatorFor(format: string, name: string, allErrors: boolean): ValidateFunction {
  const validate = validatorOf(format, allErrors).getSchema(`published#/components/schemas/${name}`)
  if (validate === undefined) throw new Error(`The kit has no schema ${name} for ${format}.`)
  return validate as ValidateFunction
}

function findingsOf({ validate, value, excused }: CheckedValue, allErrors: boolean): SchemaFindings {
  if (validate(value)) return NO_FINDINGS
  const errors = validate.errors!
  const specificErrors = errors.filter(({ keyword }) => keyword !== 'if' && keyword !== 'anyOf')
  // A large value is not validated a second time.
  const required = allErrors ? errors.filter(({ keyword }) => keyword === 'required') : []
  if (required.length > 0) validate(withNulls(value, required))
  const refused = new Set(required.length === 0 ? [] : validate.errors?.map(({ instancePath }) => instancePath))
  const absences = new Set(required)
  const isAbsent = (error: ErrorObject): boolean => absences.has(error) && !refused.has(missingIn(error))
  const lines = (list: readonly ErrorObject[]): string[] =>
    [...new Set(list.map(lineOf))].filter(line => !excused.some(({ fault }) => fault.test(line))).slice(0, MAX_FAULTS)
  const others = specificErrors.length > 0 ? specificErrors : errors
  return { faults: lines(others.filter(one => !isAbsent(one))), absent: lines(specificErrors.filter(isAbsent)) }
}

/**
 * Returns a value's deviations from the published schema of the given name.
 *
 * @throws Error if the kit does not have the schema, which is a bug in the kit.
 */
export function schemaFindings(
  format: string,
  name: string,
  value: unknown,
  exceptions: readonly SchemaException[],
): SchemaFindings {
  const allErrors = !isLarge(value)
  const validate = validatorFor(format, name, allErrors)
  const excused = exceptions.filter(({ schema }) => schema.test(name))
  return findingsOf({ validate, value, excused }, allErrors)
}

/** Like `schemaFindings`, but for answers, in which null in an optional field counts as absent. */
export function answerFindings(...args: Parameters<typeof schemaFindings>): SchemaFindings {
  const [format, name, value, exceptions] = args
  const findings = schemaFindings(...args)
  if (findings.faults.length === 0 || isLarge(value)) return findings
  const validate = validatorFor(format, name, true)
  validate(value)
  const nulls = nullsIn(value, validate.errors ?? [])
  validate(withoutPaths(value, nulls))
  const required = new Set((validate.errors ?? []).filter(({ keyword }) => keyword === 'required').map(missingIn))
  const optional = nulls.filter(path => !required.has(path))
  if (optional.length === 0) return findings
  const { faults, absent } = schemaFindings(format, name, withoutPaths(value, optional), exceptions)
  const lines = optional.map(path => `${path.replace(/\/\d+(?=\/|$)/g, '/#')} is null`)
  return { faults, absent: [...new Set([...absent, ...lines])].slice(0, MAX_FAULTS) }
}

/** Returns all findings about a value, for data in which every field must be present. */
export function schemaFaults(...args: Parameters<typeof schemaFindings>): readonly string[] {
  const { faults, absent } = schemaFindings(...args)
  return [...faults, ...absent]
}

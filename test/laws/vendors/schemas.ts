import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Loose } from './vendor.ts'

const DRAFT = new Ajv2020({ strict: false, validateFormats: false, logger: false })

/** Returns true if a schema breaks the draft of 2020-12, against which vendors check the schemas of tools. */
export const isUnsound = (schema: Loose): boolean => !DRAFT.validateSchema({ ...schema, $schema: undefined })

/** Returns a schema and all schemas in it. */
export function schemasIn(schema: Loose): readonly Loose[] {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return []
  const { properties, $defs, items, additionalProperties, anyOf, oneOf, allOf, prefixItems } = schema
  const lists = [...[properties, $defs].map(map => Object.values(map ?? {})), anyOf, oneOf, allOf, prefixItems]
  return [schema, ...[items, additionalProperties, ...lists.flat()].flatMap(schemasIn)]
}

/** Returns true if an object of a schema leaves a property optional or takes others than it declares. */
export const isOpen = (schema: Loose): boolean =>
  schemasIn(schema).some(
    ({ type, properties = {}, required = [], additionalProperties }) =>
      type === 'object' &&
      (additionalProperties !== false || Object.keys(properties).some(name => !required.includes(name))),
  )

/** Returns true if OpenAI refuses the arguments of a function that is not strict. */
export const isOddFunction = (parameters: Loose): boolean =>
  parameters.type !== 'object' ||
  ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some(keyword => keyword in parameters) ||
  schemasIn(parameters).some(({ type, items, prefixItems }) => type === 'array' && items === undefined && !prefixItems)

/** Returns true if a reference in a schema leads to none of its parts. */
export const hasDeadReference = (root: Loose): boolean =>
  schemasIn(root).some(({ $ref }) => {
    if ($ref === undefined) return false
    const names = $ref.split('/').slice(1).map(decodeURIComponent)
    const read = (name: string): string => name.replaceAll('~1', '/').replaceAll('~0', '~')
    const target = names.reduce((at: Loose, name: string) => at?.[read(name)], root)
    return !$ref.startsWith('#') || target === undefined
  })

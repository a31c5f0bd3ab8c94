import type { Loose } from './vendor.ts'

/** Returns a schema and all schemas in it. */
export function schemasIn(schema: Loose): readonly Loose[] {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return []
  const { properties = {}, $defs = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema
  const { prefixItems = [] } = schema
  const lists = [Object.values(properties), Object.values($defs), anyOf, oneOf, allOf, prefixItems]
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
  schemasIn(parameters).some(({ type, items, prefixItems }) => type === 'array' && !items && !prefixItems)

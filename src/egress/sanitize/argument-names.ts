import { isObject, type JsonObject } from '../../canonical/node.ts'

/*
 * Claude refuses all tools of a request if one has an argument such as `$filter` or `filter[id]`, as tools for OData and
 * JSON:API have them: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'" (ComposioHQ/composio#3500,
 * decocms/studio#6874, beautyfree/appstore-connect-mcp#2, read on 2026-12-01). The pattern holds for the names of
 * arguments, not for those inside of them.
 */

const PLAIN_NAME = /^[a-zA-Z0-9_.-]{1,64}$/

/** Returns true if an argument has a name that Claude refuses. */
export const hasOddArguments = ({ properties }: JsonObject): boolean =>
  isObject(properties) && Object.keys(properties).some(name => !PLAIN_NAME.test(name))

/**
 * Returns the argument schema of a tool with each odd name moved into its description, from which the model still learns
 * the argument. The same schema if all names are plain.
 */
export function withPlainArguments(schema: JsonObject): JsonObject {
  if (!hasOddArguments(schema)) return schema
  const { properties, required, additionalProperties, description, ...others } = schema
  const entries = Object.entries(properties as JsonObject)
  const odd = Object.fromEntries(entries.filter(([name]) => !PLAIN_NAME.test(name)))
  const needed = Array.isArray(required) ? required.filter(name => !Object.hasOwn(odd, String(name))) : []
  const oddNeeded = Array.isArray(required) ? required.filter(name => Object.hasOwn(odd, String(name))) : []
  const words = [
    ...(typeof description === 'string' ? [description] : []),
    `Further arguments, by their exact names, as JSON Schema: ${JSON.stringify(odd)}`,
    ...(oddNeeded.length === 0 ? [] : [`Of these, required: ${JSON.stringify(oddNeeded)}`]),
  ]
  return {
    ...others,
    description: words.join('\n'),
    properties: Object.fromEntries(entries.filter(([name]) => PLAIN_NAME.test(name))),
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
  }
}

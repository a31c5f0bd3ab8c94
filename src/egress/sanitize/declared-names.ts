import { isObject, type JsonObject } from '../../canonical/node.ts'
import { eachSchema } from './each-schema.ts'

/*
 * Groq refuses an object that requires names without any properties, or with an empty list of names: "'required' present
 * but 'properties' is missing" (usestrix/strix#1088 and #1204, eigent-ai/eigent#1908, read on 2026-12-01).
 */

/** Returns the schema with properties wherever names are required. The same object if all have them. */
export const withDeclaredNames = (schema: JsonObject): JsonObject =>
  eachSchema(schema, one =>
    one['required'] === undefined || isObject(one['properties']) ? one : { ...one, properties: {} },
  )

import type { Output } from '../../canonical/request.ts'
import { isRecursive } from './recursive-schema.ts'

/** Flag of a dialect whose upstream may take schemas of answers. */
interface TakesSchemas {
  readonly json_schema?: boolean
}

/**
 * Returns the reason why an upstream that takes JSON by a schema alone refuses the shape of an answer: it takes no schemas
 * either, there is none, or it refers to itself, "Circular reference detected in schema definitions"
 * (docs/wire/messages.md#request). Undefined if it takes the shape.
 */
export function refusalOfShape(text: Output['text'], { json_schema }: TakesSchemas): string | undefined {
  if (text === undefined || text.shape === 'text') return undefined
  if (json_schema === false) return 'no-json-schema'
  if (text.shape === 'json') return 'json-needs-a-schema'
  return text.shape === 'schema' && isRecursive(text.schema) ? 'no-recursive-schemas' : undefined
}

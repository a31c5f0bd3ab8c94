import type { JsonObject } from '../../canonical/node.ts'

/** A whole answer's text. */
export const jsonText = (body: JsonObject): string => JSON.stringify(body)

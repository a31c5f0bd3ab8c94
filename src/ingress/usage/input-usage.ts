import { type Format, type JsonObject, withOrigin } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, left } from '../fields.ts'
import { anyCount } from './counts.ts'

const COUNTS = new Set(['prompt_tokens', 'total_tokens'])

/** The usage of an answer that has only prompt tokens. */
export function readInputUsage(format: Format, wire: JsonObject): Usage {
  const refused = [...COUNTS].filter(field => anyCount(wire[field]) === undefined)
  return withOrigin({ ...defined({ input: inputAlone(wire) }), ...left(format, wire, COUNTS, refused) }, format, wire)
}

/** Some vendors report only the total, some a smaller prompt count beside it. */
function inputAlone({ prompt_tokens, total_tokens }: JsonObject): number | undefined {
  const counts = [anyCount(prompt_tokens), anyCount(total_tokens)].filter(count => count !== undefined)
  return counts.length === 0 ? undefined : Math.max(...counts)
}

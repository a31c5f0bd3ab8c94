import type { Format, JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'
import { defined, rest } from '../fields.ts'
import { anyCount } from './counts.ts'

const COUNTS = new Set(['prompt_tokens', 'total_tokens'])

/** The usage of an answer that has only prompt tokens; how it was written is kept whole. */
export const readInputUsage = (format: Format, wire: JsonObject): Usage => ({
  ...defined({ input: inputAlone(wire) }),
  ...rest(
    format,
    wire,
    COUNTS,
    { whole: wire },
    [...COUNTS].filter(field => anyCount(wire[field]) === undefined),
  ),
})

/** Some vendors report only the total, some a smaller prompt count beside it. */
function inputAlone({ prompt_tokens, total_tokens }: JsonObject): number | undefined {
  const counts = [anyCount(prompt_tokens), anyCount(total_tokens)].filter(count => count !== undefined)
  return counts.length === 0 ? undefined : Math.max(...counts)
}

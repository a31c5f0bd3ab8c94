import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'

/** The count of input tokens, for formats whose answers have no others and require it: 0 where it is unknown. */
export function inputRequired({ input }: Usage, losses: Losses): number {
  if (input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  return input ?? 0
}

/**
 * The upstream's usage with those of the named counts that it left out, though clients require them: Voyage reports the
 * total alone, where OpenAI's clients read `prompt_tokens`.
 */
export function withCounts(reported: JsonObject, { input }: Usage, fields: readonly string[]): JsonObject {
  const missing = input === undefined ? [] : fields.filter(field => reported[field] == null)
  return missing.length === 0 ? reported : { ...reported, ...Object.fromEntries(missing.map(field => [field, input!])) }
}

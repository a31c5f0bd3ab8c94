import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Usage } from '../../canonical/result.ts'

/** The count of answers whose only tokens are those of what was asked, and which must tell it: 0 where nobody knows. */
export function inputRequired({ input }: Usage, losses: Losses): number {
  if (input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  return input ?? 0
}

/**
 * What an upstream told of its tokens, with the counts among these fields that it left out, though clients take them for
 * granted: Voyage tells the total alone, where OpenAI's clients read `prompt_tokens`.
 */
export function withCounts(told: JsonObject, { input }: Usage, fields: readonly string[]): JsonObject {
  const missing = input === undefined ? [] : fields.filter(field => told[field] == null)
  return missing.length === 0 ? told : { ...told, ...Object.fromEntries(missing.map(field => [field, input!])) }
}

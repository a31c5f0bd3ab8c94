import type { JsonObject } from '../../canonical/node.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'

/*
 * Clients return reasoning in a field of their own choice, whatever the upstream calls it. Groq and Cerebras refuse
 * `reasoning_content` in histories ("property 'reasoning_content' is unsupported"), and DeepSeek misses it elsewhere.
 */

/** The other field for reasoning as text, by the field that the upstream reads. */
const OTHER_FIELDS: { readonly [field: string]: string } = {
  reasoning: 'reasoning_content',
  reasoning_content: 'reasoning',
}

/** Returns the field of a turn that the upstream does not read, or undefined. */
function otherField(turn: JsonObject, { reasoning_field: own = 'none' }: ChatDialect): string | undefined {
  const other = OTHER_FIELDS[own]
  return other !== undefined && turn['role'] === 'assistant' && turn[other] !== undefined ? other : undefined
}

/** Returns true if a turn has reasoning in a field that the upstream does not read. */
export const hasOtherField = (turn: JsonObject, dialect: ChatDialect): boolean =>
  otherField(turn, dialect) !== undefined

/** Returns an assistant turn with its reasoning in the field that the upstream reads. */
export function withOwnField(turn: JsonObject, dialect: ChatDialect): JsonObject {
  const other = otherField(turn, dialect)
  if (other === undefined) return turn
  const own = dialect.reasoning_field!
  const { [other]: text, ...rest } = turn
  return typeof text === 'string' && text !== '' && rest[own] == null ? { ...rest, [own]: text } : rest
}

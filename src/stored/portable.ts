import type { JsonObject } from '../canonical/node.ts'
import type { Link } from '../store/turns.ts'
import { typeOf, unnamed } from './items.ts'

/** Items that stand for themselves: their ids are internal to their upstream. */
const SELF_CONTAINED: ReadonlySet<string> = new Set([
  ...['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
])

/**
 * The items of a turn as another upstream of the format, or the same at another time, takes them: without ids it would
 * look up, and without reasoning it has no proof of (trap 34). A proof is good where it was made.
 */
export const portable = ({ items, channel }: Link, to: string): readonly JsonObject[] =>
  items.flatMap(item => {
    if (!SELF_CONTAINED.has(typeOf(item))) return [unnamed(item)]
    const { id: _, ...rest } = item
    if (typeOf(item) !== 'reasoning') return [rest]
    return channel === to && typeof item['encrypted_content'] === 'string' ? [rest] : []
  })

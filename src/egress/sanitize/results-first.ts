import type { Message } from '../../canonical/request.ts'

/** Text of the assistant turn that is inserted after tool results, for upstreams that refuse the user there. */
export const TOOL_ACKNOWLEDGEMENT = 'Done.'

/** The inserted turn. */
export const ACKNOWLEDGING_TURN: Message = {
  role: 'assistant',
  content: [{ type: 'text', text: TOOL_ACKNOWLEDGEMENT }],
}

/**
 * Orders messages so that tool results directly follow the assistant turn with their calls. Returns the original
 * indexes in the new order.
 *
 * @param leadCount number of leading messages that keep their position.
 */
export function resultsFirst(messages: readonly Message[], leadCount: number): number[] {
  if (!messages.some(({ role }) => role === 'tool')) return [...messages.keys()]
  let turn = 0
  const ranks = messages.map(({ role }, index) => {
    if (index < leadCount) return -1
    if (role === 'assistant') return ++turn
    return role === 'tool' && turn > 0 ? turn + 1 / 4 : turn + 1 / 2
  })
  return [...messages.keys()].sort((a, b) => ranks[a]! - ranks[b]!)
}

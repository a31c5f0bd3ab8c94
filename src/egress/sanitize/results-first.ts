import type { Message } from '../../canonical/request.ts'

/**
 * The order in which results come first after each turn of the assistant.
 *
 * @param lead how many messages at the beginning stay where they are.
 */
export function resultsFirst(messages: readonly Message[], lead: number): number[] {
  if (!messages.some(({ role }) => role === 'tool')) return [...messages.keys()]
  let turn = 0
  const ranks = messages.map(({ role }, index) => {
    if (index < lead) return -1
    if (role === 'assistant') return ++turn
    return role === 'tool' && turn > 0 ? turn + 1 / 4 : turn + 1 / 2
  })
  return [...messages.keys()].sort((a, b) => ranks[a]! - ranks[b]!)
}

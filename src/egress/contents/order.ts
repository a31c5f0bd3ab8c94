import { append } from '../../canonical/append.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Message } from '../../canonical/request.ts'

/**
 * The order of messages in which the results of a turn's calls come right after it, in the order of the calls (trap
 * 43). Messages before `lead` keep their places.
 */
export function resultsInCallOrder(messages: readonly Message[], lead: number, places: Places): readonly number[] {
  const order: number[] = [...messages.keys()].slice(0, lead)
  let results: number[] = []
  let others: number[] = []
  const settle = (): void => {
    append(
      order,
      byPlace(results, index => placeOf(messages[index]!, places)),
    )
    append(order, others)
    results = []
    others = []
  }
  for (let index = lead; index < messages.length; index++) {
    const { role } = messages[index]!
    if (role === 'assistant') {
      settle()
      order.push(index)
    } else (role === 'tool' ? results : others).push(index)
  }
  settle()
  return order
}

/** The order of a message's results that is the order of their calls. */
export function inCallOrder(message: Message, places: Places, path: Path, losses: Losses): readonly number[] {
  const indices = [...message.content.keys()]
  if (message.role !== 'tool' || indices.length < 2) return indices
  const order = byPlace(indices, index => {
    const part = message.content[index]!
    return part.type === 'tool-result' ? places.get(part.id) : undefined
  })
  if (order.some((from, to) => from !== to)) losses.move([...path, 'content'], order, 'in-order-of-calls')
  return order
}

/** The number of the call, counted over the history, by its id. */
export type Places = ReadonlyMap<string, number>

/** Numbers the ids by their first calls: a repeated id refers to the first. */
export function placesOfCalls(messages: readonly Message[]): Places {
  const places = new Map<string, number>()
  for (const { content } of messages)
    for (const part of content) if (part.type === 'tool-call' && !places.has(part.id)) places.set(part.id, places.size)
  return places
}

const placeOf = ({ content: [first] }: Message, places: Places): number | undefined =>
  first?.type === 'tool-result' ? places.get(first.id) : undefined

/** Sorted by number; an item without one stays after the item it followed. */
function byPlace(indices: readonly number[], placeOf: (index: number) => number | undefined): readonly number[] {
  let last = -1
  const ranked = indices.map(index => {
    last = placeOf(index) ?? last
    return { index, rank: last }
  })
  return ranked.sort((a, b) => a.rank - b.rank).map(({ index }) => index)
}

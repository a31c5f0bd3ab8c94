import type { Message } from '../canonical/request.ts'

/** Messages that go or stay together: their places in the conversation, in order. */
export interface Block {
  readonly places: readonly number[]
  /** The last turn begins in it, or it is the last of all. */
  readonly stays: boolean
}

/**
 * A conversation in the pieces it can be shortened by, oldest first: earlier turns whole, the last turn step by step. A
 * turn begins with a message of the user, a step with the assistant's message after results of tools; no call stands in
 * another block than its result, however late that came. System and developer messages are in none.
 */
export function blocksOf(messages: readonly Message[]): readonly Block[] {
  const places = [...messages.keys()].filter(place => !isStanding(messages[place]!))
  const lastTurn = places.findLast((place, at) => isTurn(messages[place]!, messages[places[at - 1]!])) ?? places[0]
  const beginnings: number[] = []
  const calls = new Map<string, number>()
  for (const [at, place] of places.entries()) {
    const [message, before] = [messages[place]!, messages[places[at - 1]!]]
    const isStep = place > lastTurn! && message.role === 'assistant' && before?.role !== 'assistant'
    if (at === 0 || isStep || isTurn(message, before)) beginnings.push(at)
    const call = earliestCall(message, at, calls)
    while (beginnings.at(-1)! > call) beginnings.pop()
  }
  return beginnings.map((from, index) => {
    const own = places.slice(from, beginnings[index + 1])
    return { places: own, stays: index === beginnings.length - 1 || own.includes(lastTurn!) }
  })
}

export const isStanding = ({ role }: Message): boolean => role === 'system' || role === 'developer'

const isTurn = ({ role }: Message, before: Message | undefined): boolean => role === 'user' && before?.role !== 'user'

/** Where the earliest of the calls is that a message answers, or the message itself; notes those it makes. */
function earliestCall({ content }: Message, at: number, calls: Map<string, number>): number {
  let earliest = at
  for (const part of content) {
    if (part.type === 'tool-call') calls.set(part.id, at)
    if (part.type === 'tool-result') earliest = Math.min(earliest, calls.get(part.id) ?? at)
  }
  return earliest
}

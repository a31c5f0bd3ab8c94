import type { JsonObject } from '../../canonical/node.ts'
import { originOf } from '../../canonical/origin.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { type Locate, locateTurns } from '../locate.ts'

const FORMAT = 'messages'
const SYSTEM = 'system'

/** The turn that the message was read from; the system text is one without a role. */
const wireOf = (message: Message): JsonObject | undefined => originOf<JsonObject>(message, FORMAT)?.wire

const isSystem = (wire: JsonObject | undefined): boolean => wire !== undefined && wire['role'] === undefined

/** The places of the turns in a body of messages: `system` is none of them, and tool results stand in user turns. */
export function locate({ messages }: CanonicalRequest): Locate {
  const found = locateTurns(messages, {
    format: FORMAT,
    turns: 'messages',
    parts: 'content',
    preamble: message => (isSystem(wireOf(message)) ? [[SYSTEM], [SYSTEM]] : undefined),
    bare: message => typeof wireOf(message)?.['content'] === 'string',
    hasPlace: () => true,
  })
  const notes = messages[0]?.spelling?.[FORMAT]?.['billing'] as readonly number[] | undefined
  if (notes === undefined) return found
  const free = placesWithout(notes)
  return path => {
    const target = found(path)
    const [field, place, ...rest] = target
    if (field !== SYSTEM || typeof place !== 'number') return target
    return [field, free[place] ?? place + notes.length, ...rest]
  }
}

/** The places among the texts of `system` that are no billing notes, up to the last note: notes reach no model. */
function placesWithout(notes: readonly number[]): readonly number[] {
  const taken = new Set(notes)
  const places: number[] = []
  for (let at = 0; at < (notes.at(-1) ?? 0); at++) if (!taken.has(at)) places.push(at)
  return places
}

import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locateTurns } from '../locate.ts'

const FORMAT = 'messages'
const SYSTEM = 'system'

/** The places of the turns in a body of messages: `system` is none of them, and tool results stand in user turns. */
export function locate({ messages }: CanonicalRequest): Locate {
  const found = locateTurns(messages, {
    format: FORMAT,
    turns: 'messages',
    parts: 'content',
    preamble: ({ spelling }) => (spelling?.[FORMAT]?.['as'] === SYSTEM ? [[SYSTEM], [SYSTEM]] : undefined),
    bare: ({ spelling }) => spelling?.[FORMAT]?.['content'] === 'string',
    hasPlace: () => true,
  })
  const notes = messages[0]?.spelling?.[FORMAT]?.['billing'] as readonly { readonly at: number }[] | undefined
  if (notes === undefined) return found
  const free = placesWithout(notes.map(({ at }) => at))
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

import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Locate, locateTurns } from '../locate.ts'

const FORMAT = 'messages'
const SYSTEM = 'system'

/** Where in a body of messages its turns stand: `system` is none of them, and results of tools stand in the user's. */
export function locate({ messages }: CanonicalRequest): Locate {
  const found = locateTurns(messages, {
    format: FORMAT,
    turns: 'messages',
    parts: 'content',
    lead: ({ spelling }) => (spelling?.[FORMAT]?.['as'] === SYSTEM ? [[SYSTEM], [SYSTEM]] : undefined),
    bare: ({ spelling }) => spelling?.[FORMAT]?.['content'] === 'string',
    stands: () => true,
  })
  const notes = messages[0]?.spelling?.[FORMAT]?.['billing'] as readonly { readonly at: number }[] | undefined
  if (notes === undefined) return found
  const between = placesBetween(notes.map(({ at }) => at))
  return path => {
    const there = found(path)
    const [field, place, ...rest] = there
    if (field !== SYSTEM || typeof place !== 'number') return there
    return [field, between[place] ?? place + notes.length, ...rest]
  }
}

/** The places that notes leave to others, as far as there are notes: no model is told them, among the texts of the system. */
function placesBetween(notes: readonly number[]): readonly number[] {
  const taken = new Set(notes)
  const places: number[] = []
  for (let at = 0; at < (notes.at(-1) ?? 0); at++) if (!taken.has(at)) places.push(at)
  return places
}

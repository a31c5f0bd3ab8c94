import type { Path } from '../../canonical/loss.ts'
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
  return notes === undefined ? found : path => behind(found(path), notes)
}

/** Notes that no model is told stand among the texts of the system. */
function behind([field, place, ...rest]: Path, notes: readonly { readonly at: number }[]): Path {
  if (field !== SYSTEM || typeof place !== 'number') return [field!, ...(place === undefined ? [] : [place]), ...rest]
  return [field, notes.reduce((at, note) => (note.at <= at ? at + 1 : at), place), ...rest]
}

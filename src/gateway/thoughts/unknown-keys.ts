import type { Format } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { READERS } from '../../ingress/index.ts'
import { idKey, isCounted, placeKey } from './call-keys.ts'
import { GistTrail } from './trail.ts'

/** The keys under which thoughts before the calls of a request may be found that `isUnknown`. */
export function unknownKeys(
  { messages }: CanonicalRequest,
  format: Format,
  isUnknown: (key: string) => boolean,
): readonly string[] {
  const isPlaced = READERS[format]!.dropsIds === true
  const calls = messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.filter(part => part.type === 'tool-call') : [],
  )
  const byId = calls.filter(({ id, name }) => !isCounted(id, name)).map(({ id }) => idKey(id))
  const hasPlaces = calls.length > 0 && (isPlaced || byId.length < calls.length)
  return [...byId, ...(hasPlaces ? placesIn(messages, isPlaced) : [])].filter(isUnknown)
}

function placesIn(messages: CanonicalRequest['messages'], all: boolean): readonly string[] {
  const gist = new GistTrail()
  const keys: string[] = []
  for (const { role, content } of messages)
    for (const part of content) {
      gist.part(role, part)
      if (role === 'assistant' && part.type === 'tool-call' && (all || isCounted(part.id, part.name)))
        keys.push(placeKey(gist.digest))
    }
  return keys
}

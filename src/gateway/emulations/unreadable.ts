import type { Loss } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/** The parts of a request that only point at what another upstream has: no way round brings them to this one. */
export const unreadable = ({ messages }: Pick<CanonicalRequest, 'messages'>): readonly Loss[] =>
  messages.flatMap(({ content }, message) =>
    content.flatMap((part, index): Loss[] =>
      part.type === 'opaque' && part.reference === true
        ? [{ kind: 'dropped', path: ['messages', message, 'content', index], reason: `only-${part.format}-knows` }]
        : [],
    ),
  )

import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'credential-lost',
  says: 'The handshake with the upstream has no credential.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['request.credential'],
  headers: ({ authorization: _, ...others }) => others,
}

import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'caller-outlived',
  says: 'The upstream’s connection stays open after the caller has disconnected.',
  cell: 'messages-messages/caller-leaves/stream',
  caught: ['request.left.closed'],
  outlivesCaller: true,
}

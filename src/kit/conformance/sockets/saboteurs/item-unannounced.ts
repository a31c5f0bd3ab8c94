import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'item-unannounced',
  says: 'The conversation does not announce the item of a response.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.item.created'],
  meddling: () => ({
    server: where('conversation.item.added', data => (JSON.stringify(data).includes('item_a1') ? [] : [data])),
  }),
}

import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'truncation-of-other',
  says: 'The caller truncates an item that the upstream does not know.',
  cell: 'realtime-realtime/interrupted/session',
  caught: ['request.item-known'],
  meddling: () => ({
    client: where('conversation.item.truncate', data => [{ ...data, item_id: `${String(data['item_id'])}-caller` }]),
  }),
}

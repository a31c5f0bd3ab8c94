import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'item-id-changed',
  says: 'The end of an item has a different id than its beginning.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.item.done', 'stream.response.output'],
  meddling: () => ({
    server: text => (/output_item.done|response.done/.test(text) ? [text.replaceAll('item_a1', 'item_other')] : [text]),
  }),
}

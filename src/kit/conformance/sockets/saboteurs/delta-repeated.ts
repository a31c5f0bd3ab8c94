import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'delta-repeated',
  says: 'A text delta arrives twice.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['answer.meaning:responses[0].text', 'stream.text.done'],
  meddling: () => ({
    server: first('response.output_text.delta', data => [data, { ...data, event_id: 'event_again' }]),
  }),
}

import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'event-id-missing',
  says: 'An event has no event_id.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.event-id', 'stream.schema'],
  meddling: () => ({ server: first('response.created', ({ event_id: _, ...data }) => [data]) }),
}

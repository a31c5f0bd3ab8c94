import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'part-never-added',
  says: 'A text part is not announced.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.part.added'],
  meddling: () => ({ server: where('response.content_part.added', () => []) }),
}

import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'audio-lost',
  says: 'The second piece of the spoken answer does not arrive.',
  cell: 'realtime-realtime/spoken-answer/session',
  caught: ['answer.meaning:responses[0].audio.digest', 'answer.meaning:responses[0].audio.length'],
  meddling: () => ({
    server: first('response.output_audio.delta', () => []),
  }),
}

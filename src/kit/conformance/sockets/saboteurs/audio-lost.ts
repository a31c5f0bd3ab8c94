import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'audio-lost',
  says: 'The second chunk of the spoken answer is lost.',
  cell: 'realtime-realtime/spoken-answer/session',
  caught: ['answer.meaning:responses[0].audio.digest', 'answer.meaning:responses[0].audio.length'],
  meddling: () => ({
    server: first('response.output_audio.delta', () => []),
  }),
}

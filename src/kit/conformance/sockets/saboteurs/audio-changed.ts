import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'audio-changed',
  says: 'A chunk of the spoken answer has different bytes.',
  cell: 'realtime-realtime/spoken-answer/session',
  caught: ['answer.meaning:responses[0].audio.digest'],
  meddling: () => ({
    server: first('response.output_audio.delta', data => [
      { ...data, delta: String(data['delta']).replace(/^..../, 'AAAA') },
    ]),
  }),
}

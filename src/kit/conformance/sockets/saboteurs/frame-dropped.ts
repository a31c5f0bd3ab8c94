import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'frame-dropped',
  says: 'A text delta is lost.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['answer.meaning:responses[0].text', 'stream.text.done'],
  meddling: () => ({ server: first('response.output_text.delta', () => []) }),
}

import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'transcript-lost',
  says: 'The transcript of the user’s speech is lost.',
  cell: 'realtime-realtime/server-turn-detection/session',
  caught: ['answer.meaning:heard[0]'],
  meddling: () => ({
    server: where('conversation.item.input_audio_transcription.completed', () => []),
  }),
}

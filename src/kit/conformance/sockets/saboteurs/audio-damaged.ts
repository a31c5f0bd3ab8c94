import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'audio-damaged',
  says: 'A character is added to the base64 of a chunk of the user’s speech.',
  cell: 'realtime-realtime/audio-committed/session',
  caught: ['request.meaning:audio.digest'],
  meddling: () => ({
    client: first('input_audio_buffer.append', data => [{ ...data, audio: `${String(data['audio'])}A` }]),
  }),
}

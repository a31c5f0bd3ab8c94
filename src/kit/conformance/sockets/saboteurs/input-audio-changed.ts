import { first, type SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'input-audio-changed',
  says: 'The caller’s audio reaches the upstream with different bytes.',
  cell: 'realtime-realtime/audio-committed/session',
  caught: ['request.meaning:audio.digest'],
  meddling: () => ({
    client: first('input_audio_buffer.append', data => [
      { ...data, audio: String(data['audio']).replace(/^..../, 'AAAB') },
    ]),
  }),
}

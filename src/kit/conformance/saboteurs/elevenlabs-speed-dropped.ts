import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'elevenlabs-speed-dropped',
  says: 'The speed of speech is dropped.',
  cell: 'elevenlabs.speech-elevenlabs.speech/speech-voice-id/whole',
  caught: ['request.meaning:speed'],
  request: body => rewritten(body, text => text.replace('{"speed":1.1}', '{}')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-voice-changed',
  says: 'A custom voice is replaced by a standard one.',
  cell: 'speech-speech/speech-custom-voice/whole',
  caught: ['request.meaning:voice'],
  request: body => rewritten(body, text => text.replace('{"id":"voice_kit17"}', '"alloy"')),
}

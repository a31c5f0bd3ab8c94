import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-instructions-dropped',
  says: 'The instructions are dropped.',
  cell: 'speech-speech/speech-settings/whole',
  caught: ['request.meaning:instructions'],
  request: body => rewritten(body, text => text.replace('"instructions":"Speak like a calm announcer.",', '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'speech-format-dropped',
  says: 'The requested format is dropped.',
  cell: 'speech-speech/speech-flac/whole',
  caught: ['request.meaning:format'],
  request: body => rewritten(body, text => text.replace('"response_format":"flac",', '')),
}

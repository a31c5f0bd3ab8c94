import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'model-dropped',
  says: 'The request names no model.',
  cell: 'speech-speech/speech/whole',
  caught: ['request.names-model', 'request.schema'],
  request: body => rewritten(body, text => text.replace(/,"model":"[^"]*"/, '')),
}

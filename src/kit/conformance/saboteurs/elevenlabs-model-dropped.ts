import { type Saboteur, withoutField } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'elevenlabs-model-dropped',
  says: 'A form names no model.',
  cell: 'elevenlabs.transcriptions-elevenlabs.transcriptions/transcriptions-vendor-words/whole',
  caught: ['request.model', 'request.names-model'],
  request: body => withoutField(body, 'model_id'),
}

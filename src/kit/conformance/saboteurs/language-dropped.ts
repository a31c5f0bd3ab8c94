import { type Saboteur, withoutField } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'language-dropped',
  says: 'The language of a recording is dropped.',
  cell: 'transcriptions-transcriptions/transcriptions-settings/whole',
  caught: ['request.meaning:language'],
  request: body => withoutField(body, 'language'),
}

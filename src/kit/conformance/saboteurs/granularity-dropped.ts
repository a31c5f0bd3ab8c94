import { type Saboteur, withoutField } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'granularity-dropped',
  says: 'One of two timestamp granularities is dropped.',
  cell: 'transcriptions-transcriptions/transcriptions-words/whole',
  caught: ['request.meaning:granularities[1]'],
  request: body => withoutField(body, 'timestamp_granularities\\[\\]'),
}

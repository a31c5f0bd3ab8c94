import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'document-dropped',
  says: 'A document is dropped.',
  cell: 'responses-responses/document/whole',
  caught: [
    'request.meaning:turns[0].media[0].type',
    'request.meaning:turns[0].order',
    'request.meaning:turns[0].media[0].digest',
    'request.meaning:turns[0].media[0].name',
  ],
  request: body => rewritten(body, text => text.replace(/,\{"type":"input_file"[^}]*\}/, '')),
}

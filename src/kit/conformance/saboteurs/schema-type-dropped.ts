import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'schema-type-dropped',
  says: 'The media type of an answer with a schema is dropped.',
  cell: 'contents-contents/output-schema/whole',
  caught: ['request.schema-needs-type'],
  request: body => rewritten(body, text => text.replace(/"responseMimeType":"[^"]+",?/, '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'schema-type-wrong',
  says: 'An answer with a schema has the media type of text.',
  cell: 'contents-contents/output-schema/whole',
  caught: ['request.schema-needs-type'],
  request: body => rewritten(body, text => text.replace('"application/json"', '"text/plain"')),
}

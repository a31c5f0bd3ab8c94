import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'schema-field-dropped',
  says: 'A schema loses its additionalProperties.',
  cell: 'chat-chat/output-schema/whole',
  caught: ['request.meaning:output.schema'],
  request: body => rewritten(body, text => text.replace(',"additionalProperties":false', '')),
}

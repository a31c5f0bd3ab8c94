import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'system-dropped',
  says: 'The system instructions are dropped.',
  cell: 'messages-messages/system/whole',
  caught: ['request.meaning:system'],
  request: body => rewritten(body, text => JSON.stringify({ ...JSON.parse(text), system: undefined })),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'forbidden-tools-allowed',
  says: 'The tool choice “none” is dropped.',
  cell: 'messages-messages/tool-none/whole',
  caught: ['request.meaning:toolChoice'],
  request: body => rewritten(body, text => JSON.stringify({ ...JSON.parse(text), tool_choice: { type: 'auto' } })),
}

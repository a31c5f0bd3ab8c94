import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'forced-tool-dropped',
  says: 'The choice of a specific tool is dropped.',
  cell: 'chat-chat/tool-forced/whole',
  caught: ['request.meaning:toolChoice'],
  request: body => rewritten(body, text => JSON.stringify({ ...JSON.parse(text), tool_choice: 'auto' })),
}

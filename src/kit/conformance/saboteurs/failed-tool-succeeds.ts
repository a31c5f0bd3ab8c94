import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'failed-tool-succeeds',
  says: 'The flag that marks a tool call as failed is dropped.',
  cell: 'messages-messages/tool-result-error/whole',
  caught: ['request.meaning:turns[2].results[0].isError'],
  request: body => rewritten(body, text => text.replace(/,"is_error":true|"is_error":true,/, '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'count-without-tools',
  says: 'Tools are not counted.',
  cell: 'messages.tokens-messages.tokens/tokens-tools/whole',
  caught: ['request.meaning:tools.tide.description', 'request.meaning:tools.tide.parameters'],
  request: body => rewritten(body, text => text.replace(/"tools":\[.*?\],"messages"/, '"messages"')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-of-other-call',
  says: 'A tool result has the id of a different call.',
  cell: 'chat-chat/tool-result/whole',
  caught: ['request.tool-results-paired', 'request.meaning:turns[2].results[0].answers'],
  request: body => rewritten(body, text => text.replace(/"tool_call_id":"[^"]*"/, '"tool_call_id":"call_other"')),
}

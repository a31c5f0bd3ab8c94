import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'finish-of-calls-wrong',
  says: 'An answer with calls has the finish reason of an answer without calls.',
  cell: 'messages-messages/tool/whole',
  caught: ['answer.stop-fits-calls', 'answer.meaning:candidates[0].finish'],
  answer: answer => edited(answer, text => text.replace('"stop_reason": "tool_use"', '"stop_reason": "end_turn"')),
}

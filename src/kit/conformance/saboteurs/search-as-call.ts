import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'search-as-call',
  says: 'A search that the provider ran is returned as a call for the caller.',
  cell: 'messages-messages/search/whole',
  caught: [
    'answer.meaning:candidates[0].order',
    'answer.meaning:candidates[0].calls[0].arguments',
    'answer.meaning:candidates[0].calls[0].id',
    'answer.meaning:candidates[0].calls[0].name',
    'answer.stop-fits-calls',
  ],
  answer: answer => edited(answer, text => text.replace('"server_tool_use"', '"tool_use"')),
}

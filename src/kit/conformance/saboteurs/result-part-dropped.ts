import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-part-dropped',
  says: 'The second part of a tool result is dropped.',
  cell: 'responses-responses/tool-result-parts/whole',
  caught: ['request.meaning:turns[2].results[0].text'],
  request: body => rewritten(body, text => text.replace(/,\{"type":"input_text","text":"The wind is strong\."\}/, '')),
}

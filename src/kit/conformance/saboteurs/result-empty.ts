import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-empty',
  says: 'A tool result is empty.',
  cell: 'responses-responses/tool-result/whole',
  caught: ['request.meaning:turns[2].results[0].text'],
  request: body => rewritten(body, text => text.replace(/"output":"(?:[^"\\]|\\.)*"/, '"output":""')),
}

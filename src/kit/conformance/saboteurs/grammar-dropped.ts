import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'grammar-dropped',
  says: 'The grammar of a free-form tool is dropped.',
  cell: 'responses-responses/tool-free-form/whole',
  caught: ['request.meaning:tools.lamp.grammar.definition', 'request.meaning:tools.lamp.grammar.syntax'],
  request: body => rewritten(body, text => text.replace(/,"format":\{"type":"grammar".*?\}/, '')),
}

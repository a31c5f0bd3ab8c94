import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'document-changed',
  says: 'A document loses its accents before it is ranked.',
  cell: 'rerank-rerank/rerank-unicode/whole',
  caught: ['request.meaning:documents[0].text'],
  request: body => rewritten(body, text => text.replace('schläft', 'schlaft')),
}

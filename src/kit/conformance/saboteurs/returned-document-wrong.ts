import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'returned-document-wrong',
  says: 'A rank has the text of another document.',
  cell: 'rerank.voyage-rerank.voyage/rerank-documents/whole',
  caught: ['answer.documents', 'answer.meaning:ranks[0].text'],
  answer: answer => edited(answer, text => text.replace('A bell is made of bronze.', 'A bell rings in fog.')),
}

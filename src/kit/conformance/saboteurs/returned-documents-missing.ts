import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'returned-documents-missing',
  says: 'The caller requested the documents with the ranks, but the documents are missing.',
  cell: 'rerank-rerank/rerank-documents/whole',
  caught: ['answer.documents', 'answer.meaning:ranks[0].text', 'answer.meaning:ranks[1].text'],
  answer: answer => edited(answer, text => text.replace(/"document":/g, '"source":')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-dropped',
  says: 'The last of several vectors is dropped.',
  cell: 'cohere.embeddings-cohere.embeddings/embeddings-inputs/whole',
  caught: [
    'answer.one-each',
    'answer.types-as-asked',
    'answer.meaning:vectors[2].dimensions',
    'answer.meaning:vectors[2].numbers',
  ],
  answer: answer =>
    edited(answer, text => {
      const body = JSON.parse(text) as { embeddings: { float: number[][] } }
      body.embeddings.float.pop()
      return JSON.stringify(body)
    }),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-cut',
  says: 'A vector only has half of its dimensions.',
  cell: 'contents.embeddings-contents.embeddings/embeddings-dimensions/whole',
  caught: ['answer.dimensions', 'answer.meaning:vectors[0].dimensions', 'answer.meaning:vectors[0].numbers'],
  answer: answer =>
    edited(answer, text => {
      const body = JSON.parse(text) as { embeddings: { values: number[] }[] }
      for (const one of body.embeddings) one.values.length /= 2
      return JSON.stringify(body)
    }),
}

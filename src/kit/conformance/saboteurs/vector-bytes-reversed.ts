import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-bytes-reversed',
  says: 'The numbers of a vector have the wrong byte order.',
  cell: 'embeddings.voyage-embeddings.voyage/embeddings-base64/whole',
  caught: ['answer.meaning:vectors[0].numbers', 'answer.meaning:vectors[1].numbers'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"embedding": "([^"]+)"/g, (_, base64: string) => {
        const bytes = Buffer.from(base64, 'base64').swap32()
        return `"embedding": "${bytes.toString('base64')}"`
      }),
    ),
}

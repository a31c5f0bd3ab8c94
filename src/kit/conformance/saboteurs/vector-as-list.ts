import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'vector-as-list',
  says: 'A vector that was requested in base64 is a list.',
  cell: 'embeddings-embeddings/embeddings-base64/whole',
  caught: ['answer.encoding'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"embedding": "([^"]+)"/g, (_, base64: string) => {
        const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
        return `"embedding": ${JSON.stringify([...new Float32Array(bytes.buffer)])}`
      }),
    ),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'parts-reordered',
  says: 'The text of an answer comes after its calls.',
  cell: 'messages-messages/parallel-tools/whole',
  caught: ['answer.meaning:candidates[0].order'],
  answer: answer =>
    edited(answer, text => {
      const { content, ...message } = JSON.parse(text) as { content: { type: string }[] }
      return JSON.stringify({ ...message, content: content.toSorted((a, b) => (a.type > b.type ? -1 : 1)) })
    }),
}

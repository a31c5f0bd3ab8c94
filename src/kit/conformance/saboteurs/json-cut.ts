import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'json-cut',
  says: 'The end of a whole answer is missing.',
  cell: 'chat-chat/text/whole',
  caught: [
    'answer.schema',
    'answer.meaning:candidates[0].text',
    'answer.meaning:candidates[0].finish',
    'answer.meaning:usage.input',
    'answer.meaning:usage.output',
  ],
  answer: answer => edited(answer, text => text.slice(0, -20)),
}

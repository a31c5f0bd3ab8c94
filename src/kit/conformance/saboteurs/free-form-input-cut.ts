import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'free-form-input-cut',
  says: 'The text of a free-form call loses a delta.',
  cell: 'chat-chat/tool-free-form/stream',
  caught: ['answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer => edited(answer, text => text.replace(/data: .*"custom": \{"input": "blue"\}.*\n\n/, '')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'free-form-input-cut',
  says: 'A delta of a free-form call’s input is lost.',
  cell: 'chat-chat/tool-free-form/stream',
  caught: ['answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer => edited(answer, text => text.replace(/data: .*"custom": \{"input": "blue"\}.*\n\n/, '')),
}

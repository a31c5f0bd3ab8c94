import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'finish-reason-missing',
  says: 'No event of a contents stream has a finishReason.',
  cell: 'contents-contents/text/stream',
  caught: ['stream.finish-present', 'answer.meaning:candidates[0].finish'],
  answer: answer => edited(answer, text => text.replace('"finishReason": "STOP", ', '')),
}

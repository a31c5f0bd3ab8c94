import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'stop-reason-missing',
  says: 'A stream has no stop reason.',
  cell: 'messages-messages/text/stream',
  caught: ['stream.stop-reason', 'answer.meaning:candidates[0].finish'],
  answer: answer => edited(answer, text => text.replace('"stop_reason": "end_turn"', '"stop_reason": null')),
}

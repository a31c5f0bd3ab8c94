import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-of-other-caller',
  says: 'The call of one of several agents at once has the id of the call of another.',
  cell: 'chat-chat/callers-at-once-tools/stream',
  caught: ['stream.own-answer', 'step-2.request.own-request'],
  answer: answer => edited(answer, text => text.replace(/(?<="call_caller)1/, '2')),
}

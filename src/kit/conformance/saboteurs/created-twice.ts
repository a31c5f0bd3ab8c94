import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'created-twice',
  says: 'A stream begins twice.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.sequence', 'stream.created-first'],
  answer: answer => edited(answer, text => text.replace(/event: response.created\n[^\n]*\n\n/, event => event + event)),
}

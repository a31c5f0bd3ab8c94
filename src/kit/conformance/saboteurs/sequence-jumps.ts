import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'sequence-jumps',
  says: 'A sequence_number in a Responses stream jumps from 4 to 50.',
  cell: 'responses-responses/text/stream',
  caught: ['stream.sequence'],
  answer: answer => edited(answer, text => text.replace('"sequence_number": 5,', '"sequence_number": 50,')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-id-replaced',
  says: 'A call begins with another call_id than the one with which it ends.',
  cell: 'responses-responses/parallel-tools/stream',
  caught: ['stream.item-stays'],
  answer: answer => edited(answer, text => text.replace(/"response\.output_item\.added".*"call_id": "/, '$&other_')),
}

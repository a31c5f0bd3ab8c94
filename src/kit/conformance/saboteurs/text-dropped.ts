import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'text-dropped',
  says: 'A text delta is dropped.',
  cell: 'contents-contents/text/stream',
  caught: ['answer.meaning:candidates[0].text'],
  answer: answer => edited(answer, text => text.replace(/^data: .*東京.*\r?\n\r?\n/m, '')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'answer-of-first-caller',
  says: 'A cached answer of the first of several callers is given to all of them.',
  cell: 'responses-responses/callers-at-once/whole',
  caught: ['answer.own-answer'],
  answer: answer => edited(answer, text => text.replaceAll(/(?<=caller)\d/g, '0')),
}

import { edited, type Saboteur } from './saboteur.ts'

const NEXT: { readonly [digit: string]: string } = { 0: '1', 1: '2', 2: '3', 3: '4', 4: '0' }

export const saboteur: Saboteur = {
  name: 'answer-of-next-caller',
  says: 'Each of several callers at once gets the answer of the next one.',
  cell: 'chat-chat/callers-at-once/whole',
  caught: ['answer.own-answer', 'answer.meaning:candidates[0].text'],
  answer: answer => edited(answer, text => text.replaceAll(/(?<=caller)\d/g, digit => NEXT[digit]!)),
}

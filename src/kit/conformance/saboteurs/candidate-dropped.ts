import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'candidate-dropped',
  says: 'The second candidate is dropped.',
  cell: 'contents-contents/candidates/whole',
  caught: ['answer.meaning:candidates[1].finish', 'answer.meaning:candidates[1].text'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/,\s*\{\s*"content": \{\s*"parts": \[\s*\{\s*"text": "A woodcock\."[\s\S]*?"index": 1\s*\}/, ''),
    ),
}

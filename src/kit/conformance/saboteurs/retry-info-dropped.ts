import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'retry-info-dropped',
  says: 'The details of a contents error, including the retry delay, are dropped.',
  cell: 'contents-contents/error-429/whole',
  caught: ['error.meaning:retryAfter'],
  answer: answer => edited(answer, text => text.replace('"details":', '"other":')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'retry-info-dropped',
  says: 'The details of a contents error are dropped, with the delay before a retry.',
  cell: 'contents-contents/error-429/whole',
  caught: ['error.meaning:retryAfter'],
  answer: answer => edited(answer, text => text.replace('"details":', '"other":')),
}

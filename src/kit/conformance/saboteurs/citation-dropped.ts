import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'citation-dropped',
  says: 'The citations of a streamed text are dropped.',
  cell: 'messages-messages/citations/stream',
  caught: ['answer.meaning:candidates[0].citations'],
  answer: answer =>
    edited(answer, text => text.replace(/event: content_block_delta\ndata: .*citations_delta.*\n\n/, '')),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'long-line-cut',
  says: 'A line of a stream is truncated after 64 kB.',
  cell: 'messages-messages/long-text/stream',
  caught: ['answer.meaning:candidates[0].text', 'stream.json'],
  answer: answer => edited(answer, text => text.replace(/^(.{65000}).*$/m, '$1')),
}

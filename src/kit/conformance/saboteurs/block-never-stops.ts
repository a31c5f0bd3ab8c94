import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'block-never-stops',
  says: 'A block is never stopped.',
  cell: 'messages-messages/text/stream',
  caught: ['stream.block-stops'],
  answer: answer =>
    edited(answer, text =>
      text
        .split('\n\n')
        .filter(event => !event.includes('"content_block_stop"'))
        .join('\n\n'),
    ),
}

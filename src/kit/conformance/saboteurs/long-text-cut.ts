import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'long-text-cut',
  says: 'A text of one megabyte is truncated.',
  cell: 'chat-chat/long-text/whole',
  caught: ['request.meaning:turns[0].text'],
  request: body => rewritten(body, text => text.replace(/.{64}("\}\])/, '$1')),
}

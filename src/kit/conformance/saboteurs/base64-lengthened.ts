import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'base64-lengthened',
  says: 'A character is added to the base64 of an image.',
  cell: 'contents-contents/image/whole',
  caught: ['request.meaning:turns[0].media[0].digest'],
  request: body => rewritten(body, text => text.replace(/("data":"[^"=]*)(=*")/, '$1A$2')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'content-role-system',
  says: 'The role of a content is system.',
  cell: 'contents-contents/text/whole',
  caught: ['request.role'],
  request: body => rewritten(body, text => text.replace('"role":"user"', '"role":"system"')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'seed-changed',
  says: 'The seed is changed.',
  cell: 'contents-contents/setting-seed/whole',
  caught: ['request.meaning:settings.seed'],
  request: body => rewritten(body, text => text.replace('"seed":-42', '"seed":0')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'first-turn-dropped',
  says: 'The first of two consecutive turns of a role is dropped.',
  cell: 'contents-contents/turns-of-one-role/whole',
  caught: ['request.meaning:turns[0].text'],
  request: body => rewritten(body, text => text.replace(/\{"role":"user","parts":\[\{"text":"I have[^\]]*\]\},/, '')),
}

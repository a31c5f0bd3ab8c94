import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'signature-of-other-caller',
  says: 'The call of one of several agents at once is returned with the signature of another.',
  cell: 'contents-contents/callers-at-once-tools/whole',
  caught: ['step-2.request.own-request'],
  request: body => rewritten(body, text => text.replace(/(?<=KitSignOfcaller)3/, '4')),
}

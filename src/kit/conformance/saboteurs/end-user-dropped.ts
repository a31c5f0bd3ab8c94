import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'end-user-dropped',
  says: 'The end user is dropped.',
  cell: 'responses-responses/setting-end-user/whole',
  caught: ['request.meaning:settings.endUser'],
  request: body => rewritten(body, text => text.replace(/,"safety_identifier":"[^"]*"/, '')),
}

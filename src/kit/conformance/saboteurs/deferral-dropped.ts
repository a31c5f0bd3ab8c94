import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'deferral-dropped',
  says: 'A deferred tool is loaded immediately.',
  cell: 'messages-messages/tool-deferred/whole',
  caught: ['request.meaning:tools.get_weather.deferred'],
  request: body => rewritten(body, text => text.replace(/,"defer_loading":true/, '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'temperature-dropped',
  says: 'The temperature is dropped.',
  cell: 'chat-chat/setting-temperature/whole',
  caught: ['request.meaning:settings.temperature'],
  request: body => rewritten(body, text => text.replace(/,"temperature":[\d.]+/, '')),
}

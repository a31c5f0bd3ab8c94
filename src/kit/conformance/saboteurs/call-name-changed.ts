import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'call-name-changed',
  says: 'A call names a different tool.',
  cell: 'responses-responses/tool/whole',
  caught: ['answer.meaning:candidates[0].calls[0].name'],
  answer: answer => edited(answer, text => text.replaceAll('get_weather', 'getWeather')),
}

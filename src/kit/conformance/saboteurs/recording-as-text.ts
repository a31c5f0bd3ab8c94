import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'recording-as-text',
  says: 'The bytes of a recording are decoded as UTF-8 and encoded again.',
  cell: 'transcriptions-transcriptions/transcriptions/whole',
  caught: ['request.meaning:sound.digest'],
  request: body => rewritten(body, text => text),
}

import { rewrittenBytes, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'recording-unnamed',
  says: 'The file of a form loses its name.',
  cell: 'transcriptions-transcriptions/transcriptions/whole',
  caught: ['request.file-name'],
  request: body => rewrittenBytes(body, text => text.replace('filename="meeting.wav"', 'filename="blob"')),
}

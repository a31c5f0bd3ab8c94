import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'usage-dropped',
  says: 'The chunk with the usage is dropped.',
  cell: 'chat-chat/text/stream',
  caught: ['stream.usage-when-asked', 'answer.meaning:usage.input', 'answer.meaning:usage.output'],
  answer: answer => edited(answer, text => text.replace(/data: [^\n]*"choices": \[\][^\n]*\n\n/, '')),
}

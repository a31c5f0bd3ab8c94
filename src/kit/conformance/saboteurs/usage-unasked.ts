import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'usage-unasked',
  says: 'The request for the usage of a stream is dropped.',
  cell: 'chat-chat/text/stream',
  caught: ['answer.meaning:usage.input', 'answer.meaning:usage.output', 'stream.usage-when-asked'],
  request: body => rewritten(body, text => text.replace(/,?"stream_options":{[^}]*}/, '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-k-dropped',
  says: 'The limit of candidates per token is dropped.',
  cell: 'messages-messages/setting-top-k/whole',
  caught: ['request.meaning:settings.topK'],
  request: body => rewritten(body, text => text.replace(/,"top_k":\d+/, '')),
}

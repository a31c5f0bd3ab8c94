import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'top-k-dropped',
  says: 'top_k is dropped.',
  cell: 'messages-messages/setting-top-k/whole',
  caught: ['request.meaning:settings.topK'],
  request: body => rewritten(body, text => text.replace(/,"top_k":\d+/, '')),
}

import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'result-marker-dropped',
  says: 'The cache marker of a tool result is dropped.',
  cell: 'messages-messages/cache-tool-result/stream',
  caught: ['request.meaning:cacheMarks'],
  request: body => Buffer.from(body.toString('utf8').replace(/,"cache_control":\{"type":"ephemeral","ttl":"1h"\}/, '')),
}

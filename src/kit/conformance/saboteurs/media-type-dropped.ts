import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'media-type-dropped',
  says: 'The request has no media type.',
  cell: 'chat-chat/text/whole',
  caught: ['request.content-type'],
  headers: ({ 'content-type': _, ...others }) => others,
}

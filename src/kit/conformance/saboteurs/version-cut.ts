import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'version-cut',
  says: 'The header with the version is cut.',
  cell: 'messages-messages/text/whole',
  caught: ['request.version-header'],
  headers: headers => ({ ...headers, 'anthropic-version': '2023' }),
}

import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'version-header-dropped',
  says: 'The header with the version is dropped.',
  cell: 'messages-messages/text/whole',
  caught: ['request.version-header'],
  headers: ({ 'anthropic-version': _, ...others }) => others,
}

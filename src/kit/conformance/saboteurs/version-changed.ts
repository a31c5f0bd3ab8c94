import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'version-changed',
  says: 'A request in the older version is declared as the newer version.',
  cell: 'messages-messages/setting-temperature/whole',
  caught: ['request.version-fields'],
  headers: ({ 'x-api-key': key = '', ...others }) => ({
    ...{ ...others, authorization: `Bearer ${key}`, 'anthropic-version': '2026-10-21' },
  }),
}

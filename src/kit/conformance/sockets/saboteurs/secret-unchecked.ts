import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'secret-unchecked',
  says: 'Any client secret opens a session, and its settings are ignored.',
  cell: 'realtime-realtime/client-secret/session',
  caught: ['answer.secret.invented', 'request.meaning:settings.instructions', 'request.meaning:settings.voice'],
  headers: headers => ({ ...headers, authorization: 'Bearer upstream-key' }),
}

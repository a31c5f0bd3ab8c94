import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'secret-settings-lost',
  says: 'The answer with a client secret lacks the session settings.',
  cell: 'realtime-realtime/client-secret/session',
  caught: ['answer.schema', 'answer.secret.settings'],
  secret: answer => ({ ...answer, session: { type: 'realtime' } }),
}

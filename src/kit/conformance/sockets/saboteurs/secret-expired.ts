import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'secret-expired',
  says: 'A client secret is already expired when it is issued.',
  cell: 'realtime-realtime/client-secret/session',
  caught: ['answer.secret.expires'],
  secret: answer => ({ ...answer, expires_at: 1_600_000_000 }),
}

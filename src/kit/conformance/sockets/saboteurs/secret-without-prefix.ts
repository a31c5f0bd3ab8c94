import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'secret-without-prefix',
  says: 'A client secret lacks the prefix that tells it from a key.',
  cell: 'realtime-realtime/client-secret/session',
  caught: ['answer.secret.prefix', 'request.meaning:settings.instructions', 'request.meaning:settings.voice'],
  secret: answer => ({ ...answer, value: String(answer['value']).slice(3) }),
}

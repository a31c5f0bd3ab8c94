import { type SessionSaboteur, where, within } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'instructions-lost',
  says: 'The instructions of a session do not reach the upstream.',
  cell: 'realtime-realtime/settings/session',
  caught: ['request.meaning:settings.instructions'],
  meddling: () => ({
    client: where('session.update', data => [within(data, 'session', { instructions: '' })]),
  }),
}

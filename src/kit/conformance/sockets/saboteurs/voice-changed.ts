import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'voice-changed',
  says: 'The session uses a different voice.',
  cell: 'realtime-realtime/settings/session',
  caught: ['request.meaning:settings.voice'],
  meddling: () => ({ client: text => [text.replace('"voice":"marin"', '"voice":"alloy"')] }),
}

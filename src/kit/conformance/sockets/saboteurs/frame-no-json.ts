import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'frame-no-json',
  says: 'The JSON in a frame is truncated.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.event'],
  meddling: () => ({
    server: text => [text.includes('rate_limits') ? text.slice(0, 40) : text],
  }),
}

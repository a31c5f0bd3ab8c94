import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'frame-no-json',
  says: 'A frame is cut within its JSON.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.event'],
  meddling: () => ({
    server: text => [text.includes('rate_limits') ? text.slice(0, 40) : text],
  }),
}

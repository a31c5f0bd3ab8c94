import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'beta-name',
  says: 'An event of the GA version has its beta name.',
  cell: 'realtime-realtime/text-turn/session',
  caught: ['stream.schema', 'stream.version'],
  meddling: () => ({
    server: text => [text.replace('response.output_text.done', 'response.text.done')],
  }),
}

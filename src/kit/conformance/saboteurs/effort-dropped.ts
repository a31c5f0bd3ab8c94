import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'effort-dropped',
  says: 'The reasoning effort is dropped.',
  cell: 'chat-chat/reasoning-effort-high/whole',
  caught: ['request.meaning:reasoning.wanted', 'request.meaning:reasoning.effort'],
  request: body => Buffer.from(body.toString('utf8').replace(/,"reasoning_effort":"high"/, '')),
}

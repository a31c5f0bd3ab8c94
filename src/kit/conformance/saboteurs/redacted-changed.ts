import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'redacted-changed',
  says: 'One byte of a redacted block in a history is changed.',
  cell: 'messages-messages/reasoning-redacted/whole',
  caught: ['request.meaning:turns[1].reasoning[0].redacted'],
  request: body => Buffer.from(body.toString('utf8').replace('RedactedThinkingOne', 'RedactedThinkingOnf')),
}

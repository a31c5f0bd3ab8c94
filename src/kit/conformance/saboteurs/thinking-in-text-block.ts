import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'thinking-in-text-block',
  says: 'Reasoning arrives in a text block.',
  cell: 'messages-messages/reasoning-signature/stream',
  caught: [
    'answer.meaning:candidates[0].order',
    'stream.delta-fits-block',
    'answer.meaning:candidates[0].reasoning[0].text',
    'answer.meaning:candidates[0].reasoning[0].signature',
  ],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"content_block": \{"type": "thinking"[^}]*\}/, '"content_block": {"type": "text", "text": ""}'),
    ),
}

import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'error-after-answer',
  says: 'An error follows a complete answer, so that clients raise it.',
  cell: 'chat-chat/text/stream',
  caught: ['stream.no-error'],
  answer: answer =>
    edited(answer, text =>
      text.replace('data: [DONE]', 'data: {"error": {"message": "Late.", "type": "server_error"}}\n\n$&'),
    ),
}

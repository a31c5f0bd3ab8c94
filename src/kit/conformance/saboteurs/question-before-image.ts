import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'question-before-image',
  says: 'An image comes after the question about it.',
  cell: 'chat-chat/image/whole',
  caught: ['request.meaning:turns[0].order'],
  request: body => {
    const { messages, ...rest } = JSON.parse(body.toString('utf8')) as { messages: { content: unknown[] }[] }
    const reordered = messages.map(({ content, ...message }) => ({ ...message, content: content.toReversed() }))
    return Buffer.from(JSON.stringify({ ...rest, messages: reordered }))
  },
}

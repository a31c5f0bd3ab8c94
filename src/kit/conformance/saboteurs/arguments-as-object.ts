import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'arguments-as-object',
  says: 'The arguments of a call are an object instead of a string.',
  cell: 'chat-chat/tool/whole',
  caught: ['answer.schema', 'answer.arguments-are-text', 'answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer =>
    edited(answer, text =>
      text.replace(/"arguments": ("(?:[^"\\]|\\.)*")/, (_, args: string) => `"arguments": ${JSON.parse(args)}`),
    ),
}

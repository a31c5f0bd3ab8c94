import { edited, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'free-form-as-function',
  says: 'A free-form call becomes a function call.',
  cell: 'responses-responses/tool-free-form/whole',
  caught: ['answer.meaning:candidates[0].calls[0].arguments'],
  answer: answer =>
    edited(answer, text =>
      text
        .replace('"custom_tool_call"', '"function_call"')
        .replace('"input": "lamp blue"', '"arguments": "{\\"input\\":\\"lamp blue\\"}"'),
    ),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'count-of-last-turn',
  says: 'Only the last turn is counted.',
  cell: 'contents.tokens-contents.tokens/tokens-turns/whole',
  caught: [
    'request.meaning:turns[0].text',
    'request.meaning:turns[1].role',
    'request.meaning:turns[1].text',
    'request.meaning:turns[2].role',
    'request.meaning:turns[2].text',
  ],
  request: body =>
    rewritten(body, text => {
      const { contents } = JSON.parse(text) as { contents: object[] }
      return JSON.stringify({ contents: contents.slice(-1) })
    }),
}

import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'events-unasked',
  says: 'A stream of generateContent is requested without alt=sse.',
  cell: 'contents-contents/text/stream',
  caught: [
    ...['answer.finish-present', 'answer.http.content-type', 'answer.schema'],
    ...['answer.meaning:candidates[0].finish', 'answer.meaning:candidates[0].text'],
    ...['answer.meaning:usage.input', 'answer.meaning:usage.output'],
  ],
  path: path => path.replace('?alt=sse', ''),
}

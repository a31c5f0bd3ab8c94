import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'tool-repeated',
  says: 'A tool is declared twice.',
  cell: 'messages-messages/parallel-tools/whole',
  caught: [
    'request.meaning:tools.get_weather #2.description',
    'request.meaning:tools.get_weather #2.parameters',
    'request.meaning:tools.get_weather #2.repeated',
  ],
  request: body => {
    const { tools, ...rest } = JSON.parse(body.toString('utf8')) as { tools: object[] }
    return Buffer.from(JSON.stringify({ ...rest, tools: [...tools, ...tools.slice(0, 1)] }))
  },
}

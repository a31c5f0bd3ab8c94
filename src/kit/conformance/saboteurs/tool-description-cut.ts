import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'tool-description-cut',
  says: 'The description of a tool is truncated after its first sentence.',
  cell: 'chat-chat/tool/whole',
  caught: ['request.meaning:tools.get_weather.description'],
  request: body => Buffer.from(body.toString('utf8').replace(' Knows temperatures only.', '')),
}

import type { Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'cache-marker-dropped',
  says: 'The cache marker of the tools is dropped.',
  cell: 'messages-messages/cache-markers/whole',
  caught: ['request.meaning:cacheMarks'],
  request: body => {
    const { tools, ...rest } = JSON.parse(body.toString('utf8')) as { tools: { cache_control?: unknown }[] }
    return Buffer.from(JSON.stringify({ ...rest, tools: tools.map(({ cache_control: _, ...tool }) => tool) }))
  },
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'parallel-switch-dropped',
  says: 'The switch that disables parallel calls is dropped.',
  cell: 'responses-responses/tools-one-at-a-time/whole',
  caught: ['request.meaning:settings.parallelCalls'],
  request: body => rewritten(body, text => text.replace('"parallel_tool_calls":false', '"parallel_tool_calls":true')),
}

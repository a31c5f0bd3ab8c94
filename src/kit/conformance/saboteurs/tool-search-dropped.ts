import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'tool-search-dropped',
  says: 'The tool that searches for deferred tools is dropped.',
  cell: 'responses-responses/tool-deferred/whole',
  caught: ['request.meaning:tools.tool-search.kind'],
  request: body => rewritten(body, text => text.replace(/,\{"type":"tool_search"\}/, '')),
}

import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'search-dropped',
  says: 'The request for a web search is dropped.',
  cell: 'contents-contents/search/whole',
  caught: ['request.meaning:tools.web-search.kind'],
  request: body => rewritten(body, text => text.replace(/"tools":\[\{"googleSearch":\{\}\}\],?/, '')),
}

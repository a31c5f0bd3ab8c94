import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'search-dropped',
  says: 'The search of the web is not requested.',
  cell: 'contents-contents/search/whole',
  caught: ['request.meaning:tools.web-search.kind'],
  request: body => rewritten(body, text => text.replace(/"tools":\[\{"googleSearch":\{\}\}\],?/, '')),
}

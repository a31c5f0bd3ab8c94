import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'search-options-dropped',
  says: 'The options that request a web search are dropped.',
  cell: 'chat-chat/search/whole',
  caught: ['request.meaning:tools.web-search.kind'],
  request: body => rewritten(body, text => text.replace(/"web_search_options":\{\},?/, '')),
}

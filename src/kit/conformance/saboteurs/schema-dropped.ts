import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'schema-dropped',
  says: 'The output schema is dropped.',
  cell: 'contents-contents/output-schema/whole',
  caught: ['request.meaning:output.kind', 'request.meaning:output.schema'],
  request: body =>
    rewritten(body, text =>
      text.replace(/,"responseJsonSchema":\{.*?\}\}?,"required":\[[^\]]*\],"additionalProperties":false\}/, ''),
    ),
}

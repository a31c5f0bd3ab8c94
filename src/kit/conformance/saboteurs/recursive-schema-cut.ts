import { rewritten, type Saboteur } from './saboteur.ts'

export const saboteur: Saboteur = {
  name: 'recursive-schema-cut',
  says: 'A schema’s reference to itself is removed.',
  cell: 'responses-responses/tool-recursive-schema/whole',
  caught: ['request.meaning:tools.get_weather.parameters'],
  request: body => rewritten(body, text => text.replace('"inside":{"$ref":"#/$defs/place"}', '"inside":{}')),
}

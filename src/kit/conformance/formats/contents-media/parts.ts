import type { Format } from '../../format.ts'
import { type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import type { Rule } from '../../rules.ts'
import { contents } from '../contents/index.ts'

/* What requests for images and speech in Google's format have in common. */

export const partsOf = (content: Json): JsonObject[] => listOf(objectOf(content)['parts']).map(objectOf)

/** The bytes of parts, in base64. */
export const dataIn = (parts: readonly JsonObject[]): JsonObject[] =>
  parts.map(part => objectOf(part['inlineData'])).filter(({ data }) => typeof data === 'string')

/** All texts of a request, joined. */
export const promptIn = (parts: readonly JsonObject[]): string | undefined =>
  parts.map(part => textOf(part['text']) ?? '').join('') || undefined

export const isStreamed = (path: string): true | undefined => path.includes('streamGenerateContent') || undefined

const SOURCE = 'https://ai.google.dev/api/generate-content#Modality'

export const mediaRules: readonly Rule[] = [
  {
    ...{ id: 'modality', on: 'request', level: 'must', source: SOURCE },
    says: 'responseModalities asks for the kind of media that the caller wants.',
  },
]

/** The rules of requests, and that they ask for a modality. */
export const wantsOutput =
  (modality: 'IMAGE' | 'AUDIO'): Format['lint']['request'] =>
  (body, headers) => {
    const wanted = listOf(objectOf(body['generationConfig'])['responseModalities'])
    const broken = contents.lint.request(body, headers)
    return wanted.includes(modality)
      ? broken
      : [...broken, { rule: 'modality', detail: `responseModalities are ${JSON.stringify(wanted)}.` }]
  }

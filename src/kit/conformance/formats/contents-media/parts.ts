import type { Format } from '../../format.ts'
import { type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import type { Rule } from '../../rules.ts'
import { contents } from '../contents/index.ts'

/* Shared code for image and speech requests in Google's format. */

export const partsOf = (content: Json): JsonObject[] => listOf(objectOf(content)['parts']).map(objectOf)

/** Returns the inline data of parts, in base64. */
export const dataIn = (parts: readonly JsonObject[]): JsonObject[] =>
  parts.map(part => objectOf(part['inlineData'])).filter(({ data }) => typeof data === 'string')

/** Returns all texts of a request, joined. */
export const promptIn = (parts: readonly JsonObject[]): string | undefined =>
  parts.map(part => textOf(part['text']) ?? '').join('') || undefined

export const isStreamed = (path: string): true | undefined => path.includes('streamGenerateContent') || undefined

const SOURCE = 'https://ai.google.dev/api/generate-content#Modality'

export const mediaRules: readonly Rule[] = [
  {
    ...{ id: 'modality', on: 'request', level: 'must', source: SOURCE },
    says: 'responseModalities requests the kind of media that the caller wants.',
  },
]

/** Checks the general rules of requests, and that the request asks for a modality. */
export const wantsOutput =
  (modality: 'IMAGE' | 'AUDIO'): Format['lint']['request'] =>
  (body, headers) => {
    const modalities = listOf(objectOf(body['generationConfig'])['responseModalities'])
    const broken = contents.lint.request(body, headers)
    return modalities.includes(modality)
      ? broken
      : [...broken, { rule: 'modality', detail: `responseModalities are ${JSON.stringify(modalities)}.` }]
  }

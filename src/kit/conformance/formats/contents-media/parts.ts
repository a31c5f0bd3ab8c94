import type { Format } from '../../format.ts'
import type { GrammarFactory } from '../../grammar.ts'
import { isObject, type Json, type JsonObject, listOf, objectOf, textOf } from '../../json.ts'
import { typeFault } from '../../media/containers.ts'
import type { Rule, Violation } from '../../rules.ts'
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
const BLOB = 'https://ai.google.dev/api/caching#Blob'

const mediaRules: readonly Rule[] = [
  {
    ...{ id: 'modality', on: 'request', level: 'must', source: SOURCE },
    says: 'responseModalities requests the kind of media that the caller wants.',
  },
  ...(['answer', 'stream'] as const).flatMap((on): Rule[] => [
    {
      ...{ id: 'media-type', on, level: 'must', source: BLOB },
      says: 'Inline data has the media type of its bytes.',
    },
    {
      ...{ id: 'sample-rate', on, level: 'should', source: BLOB },
      says: 'The media type of raw samples states their rate, as in audio/L16;codec=pcm;rate=24000.',
    },
  ]),
]

/** Media types of raw samples, and the rate in them. */
const SAMPLES = /^audio\/(l16|pcm)\b/i
const RATE = /;\s*rate=\d+/i

/** Returns the broken rule of inline data, if there is one. */
function mediaTypeFault({ mimeType, data }: JsonObject): Violation | undefined {
  const type = textOf(mimeType) ?? ''
  if (SAMPLES.test(type)) return RATE.test(type) ? undefined : { rule: 'sample-rate', detail: type }
  const detail = /^(audio|image)\/\w/i.test(type)
    ? typeFault(type, Buffer.from(String(data), 'base64'))
    : `The media type is ${JSON.stringify(type)}.`
  return detail === undefined ? undefined : { rule: 'media-type', detail }
}

/** Returns the inline data of an answer or of an event. */
const dataOfAnswer = (answer: JsonObject): JsonObject[] =>
  dataIn(listOf(answer['candidates']).flatMap(one => partsOf(objectOf(one)['content'] ?? null)))

/** Reports inline data without the media type of its bytes. */
const mediaTypeFaults = (data: readonly JsonObject[]): Violation[] => data.flatMap(one => mediaTypeFault(one) ?? [])

/** Adds the media types to the rules of whole answers. */
const answerWithMedia: Format['lint']['answer'] = (body, headers) => [
  ...contents.lint.answer(body, headers),
  ...mediaTypeFaults(dataOfAnswer(body)),
]

/** Adds the media types to the rules of streams. Only the first piece of a file begins as its type does. */
const grammarWithMedia: GrammarFactory = request => {
  const inner = contents.grammar(request)
  const faults: Violation[] = []
  let hasMedia = false
  return {
    event: (event, data) => {
      inner.event(event, data)
      if (hasMedia || !isObject(data)) return
      const media = dataOfAnswer(data)
      for (const fault of mediaTypeFaults(media)) faults.push(fault)
      hasMedia = media.length > 0
    },
    end: isComplete => [...inner.end(isComplete), ...faults],
    get ending() {
      return inner.ending
    },
  }
}

/** Checks the general rules of requests, and that the request asks for a modality. */
const wantsOutput =
  (modality: 'IMAGE' | 'AUDIO'): Format['lint']['request'] =>
  (body, headers) => {
    const modalities = listOf(objectOf(body['generationConfig'])['responseModalities'])
    const broken = contents.lint.request(body, headers)
    return modalities.includes(modality)
      ? broken
      : [...broken, { rule: 'modality', detail: `responseModalities are ${JSON.stringify(modalities)}.` }]
  }

/** The rules of the general format, with those of media and a request for a modality. */
export const withMedia = (modality: 'IMAGE' | 'AUDIO'): Pick<Format, 'grammar' | 'lint' | 'rules'> => ({
  grammar: grammarWithMedia,
  lint: { ...contents.lint, answer: answerWithMedia, request: wantsOutput(modality) },
  rules: [...contents.rules, ...mediaRules],
})

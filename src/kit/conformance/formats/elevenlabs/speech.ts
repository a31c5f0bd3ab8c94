import type { Format } from '../../format.ts'
import { compact, type JsonObject, numberOf, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { answerFacts, type SpeechRequestFacts } from '../speech/facts.ts'
import { errorFacts, errorLint, errorRule } from './error.ts'

/* ElevenLabs' speech, supported only as an upstream. Source: https://elevenlabs.io/docs/api-reference/text-to-speech/convert */

const SOURCE = 'https://elevenlabs.io/docs/api-reference/text-to-speech/convert'
const PATH = /^\/v1\/text-to-speech\/([^/?]+)(?:\/stream)?(?:\?(.*))?$/

const partsOf = (path: string) => {
  const [, voice, query] = PATH.exec(path) ?? []
  return { voice, output: new URLSearchParams(query).get('output_format') ?? undefined }
}

/** Reads the facts of a request. The container is the first word of an output format such as `mp3_44100_128`. */
function requestFacts(body: JsonObject, path: string): SpeechRequestFacts {
  const { voice, output } = partsOf(path)
  return compact({
    text: textOf(body['text']),
    voice,
    format: output?.split('_')[0],
    speed: numberOf(objectOf(body['voice_settings'])['speed']),
  }) as SpeechRequestFacts
}

const OUTPUT = /^(mp3|pcm|opus|wav|ulaw|alaw)_\d+(_\d+)?$/

function requestLint(body: JsonObject, _headers: object, path: string): readonly Violation[] {
  const violations = new Violations()
  const { output } = partsOf(path)
  if (!textOf(body['text'])) violations.add('text', 'The request has no text.')
  if (!textOf(body['model_id'])) violations.add('model', 'The request has no model_id.')
  if (output !== undefined && !OUTPUT.test(output)) violations.add('output-format', `output_format is ${output}.`)
  return violations.list
}

export const elevenlabsSpeech: Format = {
  name: 'elevenlabs.speech',
  work: 'speech',
  sharesBaseWith: 'elevenlabs',
  base: '',
  path: () => '/v1/text-to-speech/',
  headers: key => ({ 'xi-api-key': key }),
  withModel: (body, model) => ({ ...body, model_id: model }),
  recognise: (path, body, method) =>
    method === 'POST' && PATH.test(path) ? { model: textOf(body['model_id']) ?? '', stream: false } : undefined,
  schemas: {},
  exceptions: [],
  request: requestFacts,
  answer: answerFacts,
  error: errorFacts,
  lint: { request: requestLint, answer: () => [], error: errorLint },
  rules: [
    { ...{ id: 'text', on: 'request', level: 'must', source: SOURCE }, says: 'The request has a text.' },
    { ...{ id: 'model', on: 'request', level: 'should', source: SOURCE }, says: 'The request names its model.' },
    {
      ...{ id: 'output-format', on: 'request', level: 'must', source: SOURCE },
      says: 'output_format states a container and a rate, such as mp3_44100_128.',
    },
    errorRule,
  ],
}

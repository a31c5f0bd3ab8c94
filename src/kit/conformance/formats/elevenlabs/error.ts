import { errorFactsOf } from '../../error-facts.ts'
import type { ErrorFacts } from '../../facts.ts'
import type { Headers } from '../../format.ts'
import { isObject, type Json, objectOf } from '../../json.ts'
import type { Rule, Violation } from '../../rules.ts'

/* ElevenLabs' errors. Source: https://elevenlabs.io/docs/developers/resources/error-messages */

export const errorFacts = (status: number, headers: Headers, body: Json | undefined): ErrorFacts =>
  errorFactsOf(status, headers, objectOf(objectOf(body)['detail']))

export const errorLint = (_status: number, body: Json | undefined): readonly Violation[] => {
  const { detail } = objectOf(body)
  return isObject(detail) || Array.isArray(detail)
    ? []
    : [{ rule: 'error-detail', detail: `detail is ${JSON.stringify(detail)}.` }]
}

export const errorRule: Rule = {
  ...{ id: 'error-detail', on: 'error', level: 'must' },
  source: 'https://elevenlabs.io/docs/developers/resources/error-messages',
  says: 'The body is an object with a detail.',
}

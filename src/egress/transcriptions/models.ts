import type { Losses } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { reportHint } from '../media/recording.ts'
import { withFields } from '../native.ts'

/* Fields and values that transcription models refuse (docs/wire/transcriptions.md#models). */

/** Writes the form of a request as a model takes it. */
type ModelForm = (body: JsonObject, request: CanonicalRequest, losses: Losses) => JsonObject

/** The first row applies that matches the model. Other models take every field. */
const MODELS: readonly (readonly [models: RegExp, form: ModelForm])[] = [
  [/\btranscribe-diarize\b/i, formOfDiarizing],
  [/\bgpt-(?:4o-)?(?:mini-)?transcribe\b/i, formWithoutTimes],
  // At vLLM; Mistral itself has forms of its own.
  [/\bvoxtral\b/i, formWithoutTimes],
]

/** Returns the form without what the model refuses. */
export function acceptedForm(body: JsonObject, request: CanonicalRequest, losses: Losses): JsonObject {
  // Only `whisper-1` translates, so that other models refuse the request by its path.
  if (request.output.transcript?.task === 'translate') return body
  const form = MODELS.find(([models]) => models.test(request.model))?.[1]
  return form === undefined ? body : form(body, request, losses)
}

const GRANULARITIES = ['timestamp_granularities', 'timestamp_granularities[]']
const INCLUDES = ['include', 'include[]']

/**
 * Writes the form for models without times. `verbose_json` that names no granularity needs none, so that its loss is not
 * refused. Subtitles stay requested: the upstream refuses them free of charge.
 */
function formWithoutTimes(body: JsonObject, { output: { transcript } }: CanonicalRequest, losses: Losses): JsonObject {
  const { response_format: format } = body
  const isTimed = format === 'verbose_json' || format === 'diarized_json'
  if (!isTimed) return withFields(body, {}, format === undefined || format === 'json' ? GRANULARITIES : [])
  const { timestamps, ...untimed } = transcript ?? {}
  const namesTimes = GRANULARITIES.some(field => body[field] !== undefined) || transcript?.speakers === true
  if (!namesTimes) losses.change(['output', 'transcript'], untimed as JsonObject, 'no-timestamps')
  else if (timestamps !== undefined) losses.drop(['output', 'transcript', 'timestamps'], 'no-timestamps')
  if (transcript?.speakers !== undefined) losses.drop(['output', 'transcript', 'speakers'], 'no-speakers')
  return withFields(body, {}, ['response_format', ...GRANULARITIES])
}

/** Response formats of the diarizing model. It has times with speakers alone. */
const DIARIZED_FORMATS: ReadonlySet<unknown> = new Set([undefined, 'json', 'text', 'diarized_json'])

/** Writes the form for the diarizing model, which requires a chunking strategy. */
function formOfDiarizing(body: JsonObject, request: CanonicalRequest, losses: Losses): JsonObject {
  const { timestamps, speakers } = request.output.transcript ?? {}
  const isKnown = DIARIZED_FORMATS.has(body['response_format'])
  if (!isKnown && speakers !== true) losses.add(['output', 'transcript', 'speakers'], true, 'times-with-speakers-only')
  if (!isKnown && timestamps?.join() !== 'segment')
    losses.change(['output', 'transcript', 'timestamps'], ['segment'], 'speakers-of-segments-only')
  if (body['prompt'] !== undefined) reportHint(request, losses)
  if (request.sampling.logprobs !== undefined && INCLUDES.some(field => body[field] !== undefined))
    losses.drop(['sampling', 'logprobs'], 'no-log-probabilities')
  return withFields(
    body,
    {
      ...(isKnown ? {} : { response_format: 'diarized_json' }),
      ...(body['chunking_strategy'] == null ? { chunking_strategy: 'auto' } : {}),
    },
    ['prompt', ...GRANULARITIES, ...INCLUDES],
  )
}

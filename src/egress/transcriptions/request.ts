import { foreignLosses, Losses, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { transcriptionsDialect } from '../../formats/dialects/transcriptions.ts'
import { defined, extrasFor } from '../fields.ts'
import { languageCodeOf } from '../media/language.ts'
import { hintOf, recordingOf, reportHint } from '../media/recording.ts'
import { bodyWithModel, nativeSourceOf, withFields } from '../native.ts'
import { reportConversational } from '../sanitize/unwritten.ts'
import type { WriteOptions } from '../writer.ts'
import { withKnownFields } from './known-fields.ts'
import { acceptedForm } from './models.ts'

export const FORMAT = 'transcriptions'

/**
 * Writes the request as a form for `POST /audio/transcriptions` or `/audio/translations`
 * (docs/wire/transcriptions.md#request).
 *
 * @throws GatewayError `cannot-express` if the request contains no recording.
 */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  const dialect = transcriptionsDialect(options.dialect)
  const { transcript_shapes = 'all', transcript_events } = dialect
  const nativeSource = options.native ? nativeSourceOf(request, FORMAT) : undefined
  const files = nativeSource?.wire.files ?? [recordingOf(request, FORMAT, losses)]
  const body = nativeSource === undefined ? writeBody(request, losses) : bodyWithModel(request, nativeSource)
  const path = request.output.transcript?.task === 'translate' ? '/audio/translations' : '/audio/transcriptions'
  const shaped = withKnownFields(SHAPE_WRITERS[transcript_shapes](body, request, losses), request, dialect, losses)
  const written = transcript_events === false ? withoutStream(shaped, request, losses) : shaped
  return { wire: { path, query: {}, headers: {}, body: written, files, accept: ACCEPT }, losses: losses.list }
}

/** Returns the form without `stream`, in any value, for an upstream that answers at once. */
function withoutStream(body: JsonObject, { stream }: CanonicalRequest, losses: Losses): JsonObject {
  if (stream) losses.changeRestored(['stream'], false, 'answered-at-once')
  return withFields(body, {}, ['stream'])
}

const ACCEPT = 'application/json, text/event-stream, text/plain'

function writeBody(request: CanonicalRequest, losses: Losses): JsonObject {
  losses.report(foreignLosses(request, FORMAT))
  reportSettings(request, losses)
  const { sampling, stream } = request
  const { transcript } = request.output
  const shape = shapeFor(transcript, losses)
  return defined({
    model: request.model,
    language: languageCodeOf(request, losses),
    prompt: hintOf(request, losses),
    response_format: shape,
    'timestamp_granularities[]': shape === 'verbose_json' ? transcript?.timestamps : undefined,
    'keywords[]': transcript?.keywords,
    'include[]': includesLogprobs(sampling, shape, losses) ? 'logprobs' : undefined,
    temperature: sampling.temperature === undefined ? undefined : String(sampling.temperature),
    stream: stream ? 'true' : undefined,
    ...extrasFor(request, FORMAT),
  }) as JsonObject
}

/** Returns true if log probabilities are requested. Only plain JSON answers can contain them. */
function includesLogprobs(
  { logprobs }: CanonicalRequest['sampling'],
  shape: string | undefined,
  losses: Losses,
): boolean {
  if (logprobs === undefined) return false
  if (shape !== undefined) losses.drop(['sampling', 'logprobs'], 'not-beside-times')
  else if (logprobs !== 0) losses.change(['sampling', 'logprobs'], 0, 'chosen-tokens-only')
  return shape === undefined
}

/** Chooses the response format. Speakers are only available with segments, and never with words or in translations. */
function shapeFor(transcript: Output['transcript'], losses: Losses): string | undefined {
  const timedFormat = transcript?.timestamps === undefined ? undefined : 'verbose_json'
  if (transcript?.speakers !== true) return timedFormat
  if (transcript.task === 'translate') {
    losses.drop(['output', 'transcript', 'speakers'], 'no-speakers-of-translations')
    return timedFormat
  }
  if (transcript.timestamps?.join() !== 'segment')
    losses.change(['output', 'transcript', 'timestamps'], ['segment'], 'speakers-of-segments-only')
  return 'diarized_json'
}
/**
 * Reports all sampling settings except temperature and the log probabilities of chosen tokens. The others only apply to
 * conversations.
 */
function reportSettings(request: CanonicalRequest, losses: Losses): void {
  const { temperature: _, logprobs: _logprobs, ...sampling } = request.sampling
  reportConversational({ ...request, sampling }, losses, 'no-such-setting')
  losses.dropFields(request, [], { endUser: 'no-end-user' })
}

type Shape = (body: JsonObject, request: CanonicalRequest, losses: Losses) => JsonObject

/** Functions that adapt the body to an upstream that does not support every response format. */
const SHAPE_WRITERS: { readonly [S in 'all' | 'json' | 'none']: Shape } = {
  all: acceptedForm,
  json: (body, request, losses) => {
    const { response_format: format } = body
    if (format === undefined || PLAIN_FORMATS.has(format)) return acceptedForm(body, request, losses)
    if (request.output.transcript?.speakers === true) losses.drop(['output', 'transcript', 'speakers'], 'no-speakers')
    return { ...body, response_format: 'verbose_json' }
  },
  none: ({ response_format: _, prompt: _prompt, ...body }, request, losses) => {
    reportHint(request, losses)
    const { timestamps, speakers, keywords, language } = request.output.transcript ?? {}
    // Mistral answers an empty text to both (docs/wire/transcriptions.md#mistral).
    const isLanguageLost = timestamps !== undefined && language !== undefined
    if (isLanguageLost) losses.drop(['output', 'transcript', 'language'], 'not-beside-times')
    const others = Object.entries(body).filter(
      ([name]) => !/^(timestamp_granularities|keywords)(\[\])?$/.test(name) && !(isLanguageLost && name === 'language'),
    )
    const ownFields = {
      timestamp_granularities: timestamps,
      diarize: speakers === true ? 'true' : undefined,
      context_bias: keywords,
    }
    return { ...Object.fromEntries(others), ...defined(ownFields) } as JsonObject
  },
}

const PLAIN_FORMATS: ReadonlySet<Json> = new Set(['json', 'text', 'verbose_json'])

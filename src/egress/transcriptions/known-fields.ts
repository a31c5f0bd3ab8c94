import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { TranscriptionsDialect } from '../../formats/dialects/transcriptions.ts'
import { withFields } from '../native.ts'

/* Fields of the form that vendors take (docs/wire/transcriptions.md#groq, docs/wire/transcriptions.md#mistral). */

const FORMAT = 'transcriptions'

type Vendor = Exclude<NonNullable<TranscriptionsDialect['transcript_fields']>, 'any'>

const FIELDS: { readonly [V in Vendor]: ReadonlySet<string> } = {
  groq: new Set([
    ...['model', 'url', 'language', 'prompt', 'response_format', 'temperature', 'stream'],
    'timestamp_granularities[]',
  ]),
  mistral: new Set([
    ...['model', 'url', 'file_url', 'file_id', 'language', 'temperature', 'stream', 'timestamp_granularities'],
    ...['diarize', 'context_bias', 'speaker_references'],
  ]),
}

/** Canonical settings that have a field of their own, by the names of that field. */
const SETTINGS = [
  { fields: ['keywords', 'keywords[]'], path: ['output', 'transcript', 'keywords'], reason: 'no-equivalent-field' },
  { fields: ['include', 'include[]'], path: ['sampling', 'logprobs'], reason: 'no-log-probabilities' },
] as const

/** Returns the form with only the vendor's fields, and reports all others. */
export function withKnownFields(
  form: JsonObject,
  request: CanonicalRequest,
  { transcript_fields: vendor = 'any' }: TranscriptionsDialect,
  losses: Losses,
): JsonObject {
  if (vendor === 'any') return form
  const body = vendor === 'groq' ? withBrackets(form, request, losses) : form
  const unknown = Object.keys(body).filter(field => !FIELDS[vendor].has(field))
  for (const field of unknown) reportExtra(field, request, losses)
  for (const { fields, path, reason } of SETTINGS)
    if (isSet(request, path) && fields.some(field => unknown.includes(field))) losses.drop(path, reason)
  return withFields(body, {}, unknown)
}

const isSet = ({ output, sampling }: CanonicalRequest, [, name]: readonly string[]): boolean =>
  name === 'logprobs' ? sampling.logprobs !== undefined : output.transcript?.keywords !== undefined

/** Reports a field of the form that the canonical model lacks. */
function reportExtra(field: string, { extras }: CanonicalRequest, losses: Losses): void {
  if (extras?.[FORMAT]?.[field] !== undefined) losses.drop(['extras', FORMAT, field], 'no-equivalent-field')
}

const BARE = 'timestamp_granularities'
const BRACKETED = 'timestamp_granularities[]'

/** Writes granularities under the name that Groq takes: "unknown param `timestamp_granularities`" (Vexa-ai/vexa#1349). */
function withBrackets(form: JsonObject, request: CanonicalRequest, losses: Losses): JsonObject {
  const value = form[BARE]
  if (value === undefined || form[BRACKETED] !== undefined) return form
  reportExtra(BARE, request, losses)
  const known = (Array.isArray(value) ? value : [value]).filter(isGranularity)
  return withFields(form, known.length === 0 ? {} : { [BRACKETED]: known }, [BARE])
}

const isGranularity = (value: Json): boolean => value === 'word' || value === 'segment'

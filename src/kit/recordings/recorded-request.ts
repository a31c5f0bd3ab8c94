import type { IncomingHttpHeaders } from 'node:http'
import { parseCallData } from '../../canonical/exact-numbers.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { hasRepeatedFields } from '../../canonical/repeated-fields.ts'
import { credentialPaths, credentialsInBody, credentialsInText } from '../body-credentials.ts'
import { differentSecrets, patternOf } from '../secret-pattern.ts'
import { recordedBody, recordedBytes, textIn } from './body.ts'
import { credentialsIn, recordedHeaders, recordedQuery } from './headers.ts'
import type { RecordedBody, RecordedBytes, RecordedRequest } from './recording.ts'
import { withRedactedTokens } from './redact-tokens.ts'
import { Redaction } from './redaction.ts'

/** A request as it arrived, with its body decoded. */
export interface ArrivedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/**
 * Returns the redaction of everything that a recording must not contain: matches of the rules, and the credentials of
 * the request, in its head and in its body.
 *
 * @param messages further messages of the caller, in a session.
 * @throws Error if there are too many credentials.
 */
export function redactionFor(
  { url, headers, body }: ArrivedRequest,
  rules: readonly string[],
  messages: readonly Uint8Array[] = [],
): Redaction {
  const inBodies = [body, ...messages].flatMap(bytes => credentialsInText(textIn(bytes) ?? ''))
  const pattern = patternOf(differentSecrets([...credentialsIn(headers, queryOf(url)), ...inBodies]))
  return new Redaction([...rules, ...credentialPaths(url)], pattern === undefined ? [] : [pattern])
}

/** Removes credentials from the body of a recorded request. Earlier versions recorded them. */
export function withoutCredentials(request: RecordedRequest): RecordedRequest {
  const { path, body } = request
  const credentials = isObject(body?.json as Json) ? credentialsInBody(body!.json as JsonObject) : []
  const pattern = patternOf(credentials)
  if (pattern === undefined) return request
  return { ...request, body: redactedBody(body!, new Redaction(credentialPaths(path), [pattern])) }
}

/** Converts a request to its recorded form. The replayer also converts its callers' requests with this function. */
export async function recordedRequest(request: ArrivedRequest, redaction: Redaction): Promise<RecordedRequest> {
  const { method, url, headers } = request
  const query = recordedQuery(queryOf(url), redaction)
  const body = await bodyOf(request)
  return {
    method,
    path: redaction.text(url.split('?', 1)[0]!),
    ...(Object.keys(query).length === 0 ? {} : { query }),
    headers: recordedHeaders(headers, redaction),
    ...(body === undefined ? {} : { body: redactedBody(body, redaction) }),
  }
}

const queryOf = (url: string): URLSearchParams => new URLSearchParams(url.split('?', 2)[1] ?? '')

async function bodyOf({ headers, body }: ArrivedRequest): Promise<RecordedBody | undefined> {
  const type = headers['content-type'] ?? ''
  if (!/^\s*multipart\/form-data\b/i.test(type)) return recordedBody(body)
  try {
    return { form: await formOf(body, type) }
  } catch {
    return recordedBody(body)
  }
}

async function formOf(body: Uint8Array, type: string): Promise<NonNullable<RecordedBody['form']>> {
  const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { 'content-type': type } }).formData()
  return Promise.all(
    [...form].map(async ([field, value]) =>
      typeof value === 'string'
        ? { field, text: value }
        : { field, name: value.name, media_type: value.type, ...recordedBytes(await value.bytes()) },
    ),
  )
}

/** Removes secrets from a body. Paths of rules start at the JSON value or, for forms, with the name of the field. */
export function redactedBody(body: RecordedBody, redaction: Redaction): RecordedBody {
  if (body.json !== undefined) return { ...body, json: redactedJson(body.json as Json, redaction) }
  if (body.form !== undefined)
    return {
      form: body.form.map(part => ({
        ...part,
        field: redaction.text(part.field),
        ...(part.name === undefined ? {} : { name: redaction.text(part.name) }),
        ...(part.media_type === undefined ? {} : { media_type: redaction.text(part.media_type) }),
        ...redactedBytes(part, redaction, redaction.fields.inner(part.field).isNamed),
      })),
    }
  if (body.text === undefined) return { ...body, ...redactedBytes(body, redaction) }
  const json = jsonText(body.text, redaction)
  return json ?? { text: redaction.text(body.text) }
}

/**
 * Redacts the text of a JSON value, which keeps its spacing if it contains no secret and no repeated names. Returns
 * undefined for other texts.
 */
function jsonText(text: string, redaction: Redaction): RecordedBody | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const json = parseCallData(text)
  if (json === undefined) return undefined
  const redacted = JSON.stringify(redactedJson(json, redaction))
  const isClean = redacted === JSON.stringify(json) && !hasRepeatedFields(text, json)
  // As text, because the JSON of a file cannot hold integers beyond 2^53.
  return isClean ? { text } : recordedBody(Buffer.from(redacted))
}

const redactedJson = (value: Json, redaction: Redaction): Json =>
  redaction.json(withRedactedTokens([value], redaction)[0]!)

function redactedBytes({ text, base64 }: RecordedBytes, redaction: Redaction, isHidden = false): RecordedBytes {
  if (text !== undefined) return { text: isHidden ? String(redaction.hidden(text)) : redaction.text(text) }
  if (isHidden) return { base64: '' }
  const content = Buffer.from(base64 ?? '', 'base64').toString('latin1')
  const redacted = redaction.text(content)
  return { base64: redacted === content ? base64 : Buffer.from(redacted, 'latin1').toString('base64') }
}

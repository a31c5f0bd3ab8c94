import type { CheckList } from './check-list.ts'
import { baseFormatOf, type Format, type Headers, type RequestOnWire } from './format.ts'
import { textOf } from './json.ts'
import type { Rule } from './rules.ts'
import type { Arrival } from './upstream.ts'

/* Judges how a request reached the upstream: its model, its credential and its media type. */

const KIT_DECISION = 'docs/decisions/2026-11-23-conformance-kit.md'
const HTTP_SPEC = 'https://www.rfc-editor.org/rfc/rfc9110#section-8.3'

const HAS_MODEL: Omit<Rule, 'on'> = {
  ...{ id: 'names-model', level: 'must', source: KIT_DECISION },
  says: 'A request names a model where the upstream’s format has one.',
}
const KNOWN_MODEL: Omit<Rule, 'on'> = {
  ...{ id: 'known-model', level: 'should', source: KIT_DECISION },
  says: 'The model is the one that the caller named, or one that the upstream lists.',
}
export const HAS_CREDENTIAL: Omit<Rule, 'on'> = {
  ...{ id: 'credential', level: 'must', source: KIT_DECISION },
  says: 'A request has a credential for the upstream.',
}
const HAS_MEDIA_TYPE: Omit<Rule, 'on'> = {
  ...{ id: 'content-type', level: 'must', source: HTTP_SPEC },
  says: 'A body has the media type of JSON or of a form.',
}

const KEEPS_KEY: Omit<Rule, 'on'> = {
  ...{ id: 'own-credential', level: 'must', source: KIT_DECISION },
  says: 'A request has the configured credential of its upstream, and shows the key of the caller nowhere.',
}

/** The key of the caller, and the one that the target is configured to send to its upstreams. */
export interface Keys {
  readonly caller: string
  readonly upstream: string
}

/**
 * Judges whether a target keeps its caller's key to itself.
 *
 * @param isIssued true if the upstream issued the credential itself, as the secrets of sessions are.
 */
export function judgeKeys(
  { headers, path, body = '' }: { readonly headers: Headers; readonly path: string; readonly body?: Buffer | string },
  keys: Keys | undefined,
  list: CheckList,
  isIssued = false,
): void {
  if (keys === undefined) return
  const texts = [...Object.values(headers), path, String(body)]
  // The one key contains the other.
  const isShown = texts.some(text => text.replaceAll(keys.upstream, '').includes(keys.caller))
  const hasOwn = isIssued || texts.some(text => text.includes(keys.upstream))
  list.rule('request', KEEPS_KEY, [
    ...(isShown ? ['The upstream got the key of the caller.'] : []),
    ...(hasOwn ? [] : ['The request has no configured credential.']),
  ])
}

/** Headers in which providers accept credentials. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'xi-api-key'] as const

/** Returns the details of a request or handshake without a credential. */
export function credentialFaults(headers: Headers, path: string): string[] {
  const values = CREDENTIAL_HEADERS.map(name => headers[name] ?? '')
  const isThere =
    values.some(value => value.replace(/^Bearer(\s|$)/i, '').trim() !== '') ||
    /[?&](key|access_token)=[^&]/.test(path) ||
    /openai-insecure-api-key\./.test(headers['sec-websocket-protocol'] ?? '')
  return isThere ? [] : ['No header has a credential.']
}

function judgeModel(upstream: Format, arrival: Arrival, requests: DeliveredRequests, list: CheckList): void {
  // Requests over sockets have no path of their own.
  const modelIn = (format: Format, { path, body, method }: RequestOnWire): string =>
    format.turns === undefined ? (format.recognise(path, body, method)?.model ?? '') : (textOf(body['model']) ?? '')
  // Requests for the state of a job name no model.
  if (modelIn(upstream, requests.expected) === '') return
  const model = modelIn(upstream, { path: arrival.path, body: arrival.body, method: arrival.sent.method })
  list.rule('request', HAS_MODEL, model === '' ? ['The request names no model.'] : [])
  const known = [modelIn(requests.caller, requests.sent), `kit-${baseFormatOf(upstream)}`]
  list.rule(
    'request',
    KNOWN_MODEL,
    model === '' || known.includes(model)
      ? []
      : [`The model is ${JSON.stringify(model)} instead of ${known.join(' or ')}.`],
  )
}

/** The caller's format, its request, and the hand-written request in the upstream's format. */
export interface DeliveredRequests {
  readonly caller: Format
  readonly sent: RequestOnWire
  readonly expected: RequestOnWire
}

/** Judges how a request reached the upstream. */
export function judgeDelivery(upstream: Format, arrival: Arrival, requests: DeliveredRequests, list: CheckList): void {
  const { headers, method } = arrival.sent
  judgeModel(upstream, arrival, requests, list)
  list.rule('request', HAS_CREDENTIAL, credentialFaults(headers, arrival.path))
  // Frames of sockets have no media type.
  if (upstream.turns !== undefined || method !== 'POST') return
  const type = headers['content-type'] ?? ''
  const isKnown = /^(application\/([\w.-]+\+)?json|multipart\/form-data)\s*(;|$)/i.test(type)
  list.rule('request', HAS_MEDIA_TYPE, isKnown ? [] : [`content-type: ${type || 'none'}`])
}

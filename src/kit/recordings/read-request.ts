import { BufferedBytes } from '../../canonical/bytes.ts'
import { GatewayError } from '../../canonical/error.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireFile, WireRequest } from '../../canonical/wire.ts'
import { type MatchedRoute, matchedRoute, modelRoute, wireRequest } from '../../formats/routes.ts'
import { READERS } from '../../ingress/index.ts'
import { bytesOf, jsonIn } from './body.ts'
import type { RecordedRequest } from './recording.ts'

/** A recorded request, read in the format of its endpoint. */
export interface ReadRequest extends MatchedRoute {
  readonly wire: WireRequest
  readonly canonical: CanonicalRequest
}

/**
 * Reads a request in the format of its endpoint. Returns undefined if there is no format or it cannot read the request.
 */
export function readRequest(recorded: RecordedRequest): ReadRequest | undefined {
  const read = tryRead(recorded)
  return typeof read === 'string' ? undefined : read
}

/**
 * Returns the reason why the format of its endpoint cannot read a request, or undefined if it can or there is no
 * format.
 */
export function unreadableReason(recorded: RecordedRequest): string | undefined {
  const read = tryRead(recorded)
  return typeof read === 'string' ? read : undefined
}

/** Reads a request, or returns the message of the error. */
function tryRead(recorded: RecordedRequest): ReadRequest | string | undefined {
  const match = recorded.method === 'POST' ? routeAt(recorded.path) : undefined
  const parts = match === undefined ? undefined : bodyOf(recorded)
  const read = match === undefined ? undefined : READERS[match.route.format]?.request
  if (match === undefined || parts === undefined || read === undefined) return undefined
  try {
    const { headers, query = {} } = recorded
    const { alt, ...rest } = query
    const head = { headers, query: match.streams || alt === undefined ? query : rest }
    const wire = wireRequest(match.route, head, parts.body, parts.files)
    return { ...match, wire, canonical: read(wire) }
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.error.message
    throw thrown
  }
}

/** Returns the model that a request names, in its body, its form or its path. */
export function modelOf({ path, body }: RecordedRequest): string | undefined {
  const json = jsonIn(body)
  const model = isObject(json) ? json['model'] : body?.form?.find(({ field }) => field === 'model')?.text
  return typeof model === 'string' ? model : /\/models\/([^/:]+):/.exec(path)?.[1]
}

/** Finds the endpoint of a path below any base URL: `/v1/chat/completions`, `/api/v1/messages`, `/chat/completions`. */
export function routeAt(path: string): MatchedRoute | undefined {
  const version = path.lastIndexOf('/v1')
  const candidates = [path, `/v1${path}`, ...(version > 0 ? [path.slice(version)] : [])]
  for (const one of candidates) {
    const match = matchedRoute(one) ?? methodAt(one)
    if (match !== undefined) return match
  }
  return undefined
}

function methodAt(path: string): MatchedRoute | undefined {
  try {
    return modelRoute(path)
  } catch {
    return undefined
  }
}

function bodyOf({ body }: RecordedRequest): { body: JsonObject; files?: readonly WireFile[] } | undefined {
  if (body?.form === undefined) {
    const json = jsonIn(body)
    return isObject(json) ? { body: json } : undefined
  }
  const values = new Map<string, string[]>()
  const files: WireFile[] = []
  for (const part of body.form) {
    if (part.name === undefined) getOrAdd(values, part.field, (): string[] => []).push(part.text ?? '')
    else
      files.push({
        ...{ field: part.field, name: part.name, bytes: new BufferedBytes(bytesOf(part)) },
        mediaType: part.media_type ?? 'application/octet-stream',
      })
  }
  return { body: Object.fromEntries([...values].map(([field, all]) => [field, fieldValue(all)])), files }
}

/** Returns the value of a form field. Repeated values become a list. */
const fieldValue = (all: readonly string[]): Json => (all.length === 1 ? all[0]! : all)

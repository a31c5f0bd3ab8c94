import { type Format, type Json, type JsonObject, type Origin, originOf } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { WireRequest } from '../canonical/wire.ts'

/* What came in a format and leaves in it goes out as it came (canonical/node.ts), but for what the gateway changed. */

export type ReadRequest = Origin<CanonicalRequest, WireRequest>

/**
 * What a request was read from that is written as it came; undefined where it was read from another format, or more of
 * it was changed than the format can write into the body it had.
 *
 * @param rewritten fields of the request whose changes it can write: the model, where nothing else is said.
 */
export function ownOrigin(
  request: CanonicalRequest,
  format: Format,
  rewritten: ReadonlySet<string> = MODEL,
): ReadRequest | undefined {
  const origin: ReadRequest | undefined = originOf(request, format)
  if (origin === undefined || origin.node === request) return origin
  const before = origin.node as unknown as { readonly [field: string]: unknown }
  const fields = Object.entries(request)
  const isOwn = fields.every(([field, value]) => value === before[field] || rewritten.has(field))
  return isOwn && fields.length === Object.keys(before).length ? origin : undefined
}

const MODEL: ReadonlySet<string> = new Set(['model'])

/** What may be changed of a conversation that still goes out as it came. */
export const REWRITTEN: ReadonlySet<string> = new Set(['model', 'messages', 'stream'])

/** The body of such a request under its model, which is another where a channel has its own name for it. */
export const underModel = ({ model }: CanonicalRequest, { node, wire }: ReadRequest): JsonObject =>
  model === node.model ? wire.body : { ...wire.body, model }

/** The body with these fields, and without those that are gone; the very same where that is all the same. */
export function withFields(
  body: JsonObject,
  fields: { readonly [field: string]: Json },
  gone: readonly string[] = [],
): JsonObject {
  if (gone.length === 0 && Object.keys(fields).length === 0) return body
  const out: { [field: string]: Json } = { ...body, ...fields }
  for (const field of gone) delete out[field]
  return out
}

/** Where a body has the id and the model of an answer. */
export interface OwnHead {
  /** Their fields; a format may have none. */
  readonly id?: string
  readonly model?: string
  /** Bodies that came without them leave without them. */
  readonly optional?: true
}

const HEAD: OwnHead = { id: 'id', model: 'model' }

/** The head of formats whose answers need neither id nor model. */
export const OPTIONAL_HEAD: OwnHead = { ...HEAD, optional: true }

/**
 * The body of an answer that an upstream of this format gave, under the id and model that it has for its caller, and with
 * extras as its caller may see them; undefined of any other answer.
 */
export function ownBody(result: CanonicalResult, format: Format, head = HEAD): JsonObject | undefined {
  const origin = originOf<JsonObject, CanonicalResult>(result, format)
  if (origin === undefined) return undefined
  const { node, wire } = origin
  const { id, model, candidates, usage, extras, error, task } = result
  const isSame = usage === node.usage && error === node.error && task === node.task
  if (!isSame || candidates.length !== node.candidates.length) return undefined
  if (!candidates.every((one, at) => one === node.candidates[at])) return undefined
  const fields: { [field: string]: Json } = {}
  const put = (field: string | undefined, value: string | undefined, before: string | undefined): void => {
    if (field === undefined || value === undefined || value === before) return
    if (head.optional !== true || wire[field] !== undefined) fields[field] = value
  }
  put(head.id, id, node.id)
  put(head.model, model, node.model)
  return withFields(wire, extras === node.extras ? fields : { ...fields, ...extras?.[format] })
}

/** An answer with the gateway's own time, where the upstream gave none. */
export const dated = (body: JsonObject, { createdAt }: CanonicalResult): JsonObject =>
  createdAt === undefined || typeof body['created'] === 'number' ? body : { ...body, created: createdAt }

import { type Format, type Json, type JsonObject, type WireSource, wireSourceOf } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { WireRequest } from '../canonical/wire.ts'

/*
 * If caller and upstream use the same format, requests and answers are passed on as received except for the gateway's
 * changes (canonical/node.ts).
 */

/** A canonical request and the wire request from which it was read. */
export type NativeRequest = WireSource<CanonicalRequest, WireRequest>

/**
 * Returns the wire request to pass on unchanged, or undefined if the caller uses another format, or if a field has
 * changed and the writer cannot apply the change to the original body.
 *
 * @param rewritable fields whose changes the writer can apply to the original body. Defaults to only the model.
 */
export function nativeSourceOf(
  request: CanonicalRequest,
  format: Format,
  rewritable: ReadonlySet<string> = MODEL_ONLY,
): NativeRequest | undefined {
  const source: NativeRequest | undefined = wireSourceOf(request, format)
  if (source === undefined || source.node === request) return source
  const before = source.node as unknown as { readonly [field: string]: unknown }
  const fields = Object.entries(request)
  const isUnchanged = fields.every(([field, value]) => value === before[field] || rewritable.has(field))
  return isUnchanged && fields.length === Object.keys(before).length ? source : undefined
}

const MODEL_ONLY: ReadonlySet<string> = new Set(['model'])

/** Fields of a conversation that may change while the rest of the body stays unchanged. */
export const REWRITABLE: ReadonlySet<string> = new Set(['model', 'messages', 'stream'])

/** Returns the original body, with the channel's model name if it differs. */
export const bodyWithModel = ({ model }: CanonicalRequest, { node, wire }: NativeRequest): JsonObject =>
  model === node.model ? wire.body : { ...wire.body, model }

/** New fields of a body. A field is removed if its value is undefined. */
export type BodyChanges = { readonly [field: string]: Json | undefined }

/**
 * Sets `fields` in the body, and removes those that are undefined or listed in `removed`. Returns the same object if
 * nothing changes.
 */
export function withFields(body: JsonObject, fields: BodyChanges, removed: readonly string[] = []): JsonObject {
  if (removed.length === 0 && Object.keys(fields).length === 0) return body
  const out: { [field: string]: Json | undefined } = { ...body, ...fields }
  for (const field in fields) if (fields[field] === undefined) delete out[field]
  for (const field of removed) delete out[field]
  return out as JsonObject
}

/** Fields of a wire answer that hold its id and its model. */
export interface NativeHead {
  /** The field's name, or undefined if the format has no such field. */
  readonly id?: string
  readonly model?: string
  /** True if the fields are only written if the original body has them. */
  readonly optional?: true
}

const DEFAULT_HEAD: NativeHead = { id: 'id', model: 'model' }

/** Fields for formats whose answers require neither id nor model. */
export const OPTIONAL_HEAD: NativeHead = { ...DEFAULT_HEAD, optional: true }

/**
 * Returns the original body of an upstream answer in this format, with the public id and model name, and without extras
 * that the caller must not see, or undefined if the upstream used another format, or if the answer has any other
 * changes.
 */
export function nativeBodyOf(result: CanonicalResult, format: Format, head = DEFAULT_HEAD): JsonObject | undefined {
  const source = wireSourceOf<JsonObject, CanonicalResult>(result, format)
  if (source === undefined) return undefined
  const { node, wire } = source
  const { id, model, candidates, usage, extras, error, task } = result
  const isSame = usage === node.usage && error === node.error && task === node.task
  if (!isSame || candidates.length !== node.candidates.length) return undefined
  if (!candidates.every((one, at) => one === node.candidates[at])) return undefined
  const fields: { [field: string]: Json } = {}
  const setIfChanged = (field: string | undefined, value: string | undefined, before: string | undefined): void => {
    if (field === undefined || value === undefined || value === before) return
    if (head.optional !== true || wire[field] !== undefined) fields[field] = value
  }
  setIfChanged(head.id, id, node.id)
  setIfChanged(head.model, model, node.model)
  return withFields(wire, extras === node.extras ? fields : { ...fields, ...extras?.[format] })
}

/** Sets `created` to the gateway's time if the upstream did not send it. */
export const withCreated = (body: JsonObject, { createdAt }: CanonicalResult): JsonObject =>
  createdAt === undefined || typeof body['created'] === 'number' ? body : { ...body, created: createdAt }

import type { Loss, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Dialect } from '../../egress/writer.ts'
import { familyDialect } from '../../formats/model-families.ts'
import { bodyPaths } from '../../ingress/body-paths.ts'
import { checkedRequest } from './checked-body.ts'
import type { Codec } from './codec.ts'

/** What belongs to a request besides its body. Most formats have all of it in the body. */
export interface ReadOptions {
  /** Path below the base URL. By default the path of the format for this model. */
  readonly path?: string
  /** Model of a format that names it in the path. By default `model`. */
  readonly model?: string
  /** Whether a format that states it in the path is asked for a stream. */
  readonly stream?: boolean
  /** Headers of the format by lower-case name, such as `anthropic-beta`. Never put a credential here. */
  readonly headers?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string }
}

/**
 * Reads the body of a request.
 *
 * @example
 * ```ts
 * const request = readRequest(chat, { model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
 * request.messages[0].content // [{ type: 'text', text: 'Hello' }]
 * ```
 *
 * @throws GatewayError `invalid-request` that names the field at fault.
 */
export const readRequest = (codec: Codec, body: JsonObject, options: ReadOptions = {}): CanonicalRequest =>
  codec.reader.request!(wireRequestOf(codec, checkedRequest(body), options))

const wireRequestOf = (
  codec: Codec,
  body: JsonObject,
  { path, model = 'model', stream = false, headers = {}, query = {} }: ReadOptions,
): WireRequest => ({ path: path ?? codec.path(model, stream), query, headers, body })

/** How a request is written. */
export interface WriteRequestOptions {
  /** Flags of the upstream (docs/dialects.md). They take precedence over those of the model's family. */
  readonly dialect?: Dialect
  /** Whether the request was read in the same format, so that it goes out as it came in. */
  readonly native?: boolean
}

/** A request in a wire format, and what of it was lost. */
export interface WrittenRequest {
  /** Path below the base URL. */
  readonly path: string
  readonly query: WireRequest['query']
  readonly headers: WireRequest['headers']
  readonly body: JsonObject
  /** Losses with paths into the canonical request: applied to it by `lose`, they give what the body says. */
  readonly losses: readonly Loss[]
}

/**
 * Writes a request. Never refuses: whatever the format lacks is a loss.
 *
 * @example
 * ```ts
 * const request = readRequest(chat, { model: 'claude-opus-4-5', seed: 7, messages: [{ role: 'user', content: 'Hi' }] })
 * const { body, losses } = writeRequest(messages, request)
 * body.messages // [{ role: 'user', content: 'Hi' }]
 * losses.map(loss => loss.path.join('/')) // ['sampling/seed', 'sampling/maxTokens']
 * ```
 */
export function writeRequest(
  codec: Codec,
  request: CanonicalRequest,
  options: WriteRequestOptions = {},
): WrittenRequest {
  const { wire, losses } = codec.writer.request!(request, writeOptions(codec, request.model, options))
  const { path, query, headers, body } = wire
  return { path, query, headers, body, losses }
}

/** Adds the flags of the model's family, as the gateway does for callers of other formats. */
export const writeOptions = ({ name }: Codec, model: string, { dialect, native = false }: WriteRequestOptions) => ({
  native,
  dialect: native ? (dialect ?? {}) : { ...familyDialect(name, model), ...dialect },
})

/** Moves losses from paths in the canonical request to paths in the caller's body. */
export function inBody(codec: Codec, request: CanonicalRequest, losses: readonly Loss[]): readonly Loss[] {
  const locate: (path: Path) => Path = bodyPaths(codec.reader, codec.name, request)
  return losses.map((loss): Loss => ({ ...loss, path: locate(loss.path) }))
}

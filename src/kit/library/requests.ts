import type { Loss, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Dialect } from '../../egress/writer.ts'
import { familyDialect } from '../../formats/model-families.ts'
import { bodyPaths } from '../../ingress/body-paths.ts'
import { checkedRequest } from './checked-body.ts'
import type { Codec } from './codec.ts'

/** The parts of a request outside its body. Most formats have everything in the body. */
export interface ReadOptions {
  /** Path below the base URL. The default is the format's path for this model. */
  readonly path?: string
  /** Model, for a format that names it in the path. The default is `model`. */
  readonly model?: string
  /** True to request a stream, for a format that states this in the path. */
  readonly stream?: boolean
  /** Headers of the format by lower-case name, such as `anthropic-beta`. Never include a credential. */
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
 * @throws GatewayError `invalid-request`, which names the invalid field.
 */
export const readRequest = (codec: Codec, body: JsonObject, options: ReadOptions = {}): CanonicalRequest =>
  codec.reader.request!(wireRequestOf(codec, checkedRequest(body), options))

const wireRequestOf = (
  codec: Codec,
  body: JsonObject,
  { path, model = 'model', stream = false, headers = {}, query = {} }: ReadOptions,
): WireRequest => ({ path: path ?? codec.path(model, stream), query, headers, body })

/** Options for writing a request. */
export interface WriteRequestOptions {
  /** Flags of the upstream (docs/dialects.md). They take precedence over those of the model's family. */
  readonly dialect?: Dialect
  /** True if the request was read in the same format, so that it is written exactly as it was read. */
  readonly native?: boolean
}

/** A request in a wire format, and the losses of writing it. */
export interface WrittenRequest {
  /** Path below the base URL. */
  readonly path: string
  readonly query: WireRequest['query']
  readonly headers: WireRequest['headers']
  readonly body: JsonObject
  /**
   * Losses with paths into the canonical request. Applying them with `lose` yields the request that the body states.
   */
  readonly losses: readonly Loss[]
}

/**
 * Writes a request. Never refuses, because anything that the format lacks becomes a loss.
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

/** Maps the paths of losses from the canonical request to the caller's body. */
export function inBody(codec: Codec, request: CanonicalRequest, losses: readonly Loss[]): readonly Loss[] {
  const locate: (path: Path) => Path = bodyPaths(codec.reader, codec.name, request)
  return losses.map((loss): Loss => ({ ...loss, path: locate(loss.path) }))
}

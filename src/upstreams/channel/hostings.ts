import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { countPathOf } from '../../egress/converse/path.ts'
import type { Hosting } from '../../formats/channel-format.ts'

/* Adaptations of requests for clouds that host a vendor's models at their own addresses. */

/** Path of the format's token counting. */
const COUNT_PATH = '/v1/messages/count_tokens'

/** Version of the messages format on Google Cloud, for requests that state none (vertex-sdk 0.x). */
const VERTEX_VERSION = 'vertex-2023-10-16'

/**
 * Adapts a request for Claude on Google Cloud (vertex-sdk 1.1, `client.ts`): the model is in the path and the version
 * in the body. For token counting, the model remains in the body and all models have the same path. The model is
 * percent-encoded, because a `;` in it would cut off the method.
 */
function vertexClaude(wire: WireRequest): WireRequest {
  const { 'anthropic-version': _, ...headers } = wire.headers
  const body = { anthropic_version: VERTEX_VERSION, ...wire.body }
  if (wire.path === COUNT_PATH) return { ...wire, headers, body, path: '/models/count-tokens:rawPredict' }
  const { model, ...rest } = withMarkerOnLastBlock(body)
  const method = rest['stream'] === true ? 'streamRawPredict' : 'rawPredict'
  return {
    ...wire,
    headers,
    body: rest,
    query: withoutBeta(wire.query),
    path: `/models/${encodedModel(model)}:${method}`,
  }
}

/**
 * Moves the cache marker of the whole request to the last block that can have one, which has the same meaning
 * (docs/wire/messages.md#prompt-caching). Only the vendor's own API has automatic caching. Empty text blocks and
 * reasoning cannot have markers.
 */
function withMarkerOnLastBlock(wire: JsonObject): JsonObject {
  const { cache_control: marker, ...body } = wire
  const { messages } = body
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!isObject(marker) || !Array.isArray(messages) || !isObject(last)) return body
  const { content } = last
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
  const at = blocks.findLastIndex(canHaveMarker)
  const block = blocks[at]
  if (!isObject(block) || block['cache_control'] !== undefined) return body
  const markedBlocks = blocks.with(at, { ...block, cache_control: marker })
  return { ...body, messages: messages.with(-1, { ...last, content: markedBlocks }) }
}

const canHaveMarker = (block: Json): boolean =>
  isObject(block) && block['text'] !== '' && !String(block['type']).includes('thinking')

/** Removes `beta=true` from the query, because it has no meaning on Google Cloud. */
const withoutBeta = ({ beta: _, ...query }: WireRequest['query']): WireRequest['query'] => query

/** Version of the messages format on Bedrock, for requests that state none. */
const BEDROCK_VERSION = 'bedrock-2023-05-31'

/**
 * Adapts a request for Claude on Bedrock, through InvokeModel (docs/wire/converse.md#invokemodel): the path contains
 * the model and selects streaming, and the body contains the version and the beta features.
 */
function bedrockInvoke({ path, headers, body, query: _query, ...wire }: WireRequest): WireRequest {
  const { 'anthropic-version': _, 'anthropic-beta': betas, ...rest } = headers
  const { model, stream, ...fields } = withMarkerOnLastBlock(body)
  const beta = betas === undefined ? {} : { anthropic_beta: betas.split(',').map(name => name.trim()) }
  const invokeBody = { anthropic_version: BEDROCK_VERSION, ...beta, ...fields }
  const operation = (name: string): string => `/model/${encodedModel(model)}/${name}`
  const request = { ...wire, headers: rest, query: {} }
  if (path === COUNT_PATH) return { ...request, body: countBodyOf(invokeBody), path: countPathOf(String(model)) }
  return stream === true
    ? { ...request, ...FRAMES_ACCEPT, body: invokeBody, path: operation('invoke-with-response-stream') }
    : { ...request, body: invokeBody, path: operation('invoke') }
}

const FRAMES_ACCEPT = { accept: 'application/vnd.amazon.eventstream' }

/**
 * Returns the CountTokens body for a request (docs/wire/converse.md#token-counting). It contains a complete InvokeModel
 * request, whose token limit must exceed the thinking budget.
 */
function countBodyOf(invoked: JsonObject): JsonObject {
  const { thinking } = invoked
  const budget = isObject(thinking) ? Number(thinking['budget_tokens'] ?? 0) : 0
  const body = JSON.stringify({ ...invoked, max_tokens: budget + 1 })
  return { input: { invokeModel: { body: Buffer.from(body).toString('base64') } } }
}

/**
 * Adapts a request for Azure's older API: the path contains the deployment, which is the model. Image models refuse the
 * deployment's name in the body (dify-official-plugins#2946, semantic-kernel#13245, LiteLLM 1.110.2, read on
 * 2026-12-01).
 */
function azureDeployment(wire: WireRequest): WireRequest {
  const { model, ...fields } = wire.body
  const body = wire.path.startsWith('/images/') ? fields : wire.body
  return { ...wire, body, path: `/${encodedModel(model)}${wire.path}` }
}

const encodedModel = (model: unknown): string => encodeURIComponent(String(model).toWellFormed())

const HOSTINGS: { readonly [H in Hosting]: (wire: WireRequest) => WireRequest } = {
  'vertex-claude': vertexClaude,
  'azure-deployment': azureDeployment,
  'bedrock-invoke': bedrockInvoke,
}

/** Returns a request in the form that the hosting cloud accepts. */
export const adaptedToHosting = (wire: WireRequest, hosting: Hosting): WireRequest => HOSTINGS[hosting](wire)

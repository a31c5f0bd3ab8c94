import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { countPathOf } from '../../egress/converse/path.ts'
import type { Hosting } from '../../formats/channel-format.ts'

/* Clouds that host a vendor's models under addresses of their own: the writer's request, readdressed. */

/** Path at which the format counts tokens. */
const COUNT_PATH = '/v1/messages/count_tokens'

/** Version of the messages format on Google Cloud, for requests that state none (vertex-sdk 0.x). */
const VERTEX_VERSION = 'vertex-2023-10-16'

/**
 * Claude on Google Cloud (vertex-sdk 1.1, `client.ts`): the model is in the path and the version in the body; counting
 * keeps the model in the body and has one path for all models. A `;` would cut off the method.
 */
function vertexClaude(wire: WireRequest): WireRequest {
  const { 'anthropic-version': _, ...headers } = wire.headers
  const body = { anthropic_version: VERTEX_VERSION, ...wire.body }
  if (wire.path === COUNT_PATH) return { ...wire, headers, body, path: '/models/count-tokens:rawPredict' }
  const { model, ...rest } = withMarkedEnd(body)
  const method = rest['stream'] === true ? 'streamRawPredict' : 'rawPredict'
  return { ...wire, headers, body: rest, query: withoutBeta(wire.query), path: `/models/${encoded(model)}:${method}` }
}

/**
 * Returns a body whose cache marker of the whole request is at the last block that can have one, which means the same
 * (docs/wire/messages.md#prompt-caching). Only the vendor itself has automatic caching. Text blocks that are empty and
 * reasoning have no markers.
 */
function withMarkedEnd(wire: JsonObject): JsonObject {
  const { cache_control: marker, ...body } = wire
  const { messages } = body
  const last = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!isObject(marker) || !Array.isArray(messages) || !isObject(last)) return body
  const { content } = last
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
  const at = blocks.findLastIndex(isMarkable)
  const block = blocks[at]
  if (!isObject(block) || block['cache_control'] !== undefined) return body
  const marked = blocks.with(at, { ...block, cache_control: marker })
  return { ...body, messages: messages.with(-1, { ...last, content: marked }) }
}

const isMarkable = (block: Json): boolean =>
  isObject(block) && block['text'] !== '' && !String(block['type']).includes('thinking')

/** The query without `beta=true`, which has no meaning on Google Cloud. */
const withoutBeta = ({ beta: _, ...query }: WireRequest['query']): WireRequest['query'] => query

/** Version of the messages format on Bedrock, for requests that state none. */
const BEDROCK_VERSION = 'bedrock-2023-05-31'

/**
 * Claude on Bedrock by InvokeModel (docs/wire/converse.md#invokemodel): the path has the model and says whether the
 * answer is streamed, the body has the version and the features in beta.
 */
function bedrockInvoke({ path, headers, body, query: _query, ...wire }: WireRequest): WireRequest {
  const { 'anthropic-version': _, 'anthropic-beta': betas, ...rest } = headers
  const { model, stream, ...fields } = withMarkedEnd(body)
  const beta = betas === undefined ? {} : { anthropic_beta: betas.split(',').map(name => name.trim()) }
  const invoked = { anthropic_version: BEDROCK_VERSION, ...beta, ...fields }
  const operation = (name: string): string => `/model/${encoded(model)}/${name}`
  const request = { ...wire, headers: rest, query: {} }
  if (path === COUNT_PATH) return { ...request, body: counted(invoked), path: countPathOf(String(model)) }
  return stream === true
    ? { ...request, ...FRAMED, body: invoked, path: operation('invoke-with-response-stream') }
    : { ...request, body: invoked, path: operation('invoke') }
}

const FRAMED = { accept: 'application/vnd.amazon.eventstream' }

/**
 * The body of CountTokens for a request (docs/wire/converse.md#token-counting). It holds a complete request of
 * InvokeModel, which needs a limit above the budget of thinking.
 */
function counted(invoked: JsonObject): JsonObject {
  const { thinking } = invoked
  const budget = isObject(thinking) ? Number(thinking['budget_tokens'] ?? 0) : 0
  const body = JSON.stringify({ ...invoked, max_tokens: budget + 1 })
  return { input: { invokeModel: { body: Buffer.from(body).toString('base64') } } }
}

/** Azure's older API: the path names the deployment, which is the model. */
const azureDeployment = (wire: WireRequest): WireRequest => ({
  ...wire,
  path: `/${encoded(wire.body['model'])}${wire.path}`,
})

const encoded = (model: unknown): string => encodeURIComponent(String(model).toWellFormed())

const HOSTINGS: { readonly [H in Hosting]: (wire: WireRequest) => WireRequest } = {
  'vertex-claude': vertexClaude,
  'azure-deployment': azureDeployment,
  'bedrock-invoke': bedrockInvoke,
}

/** The request as the hosting cloud takes it. */
export const hosted = (wire: WireRequest, hosting: Hosting): WireRequest => HOSTINGS[hosting](wire)

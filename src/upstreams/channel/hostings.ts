import type { JsonObject } from '../../canonical/node.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import type { Hosting } from '../../formats/channel-format.ts'

/* Clouds that host a vendor's models under addresses of their own: the writer's request, readdressed. */

/** Version of the messages format on Google Cloud, for requests that state none (vertex-sdk 0.x). */
const VERTEX_VERSION = 'vertex-2023-10-16'

/**
 * Claude on Google Cloud (vertex-sdk 1.1, `client.ts`): the model is in the path and the version in the body; counting
 * keeps the model in the body and has one path for all models. A `;` would cut off the method.
 */
function vertexClaude(wire: WireRequest): WireRequest {
  const { 'anthropic-version': _, ...headers } = wire.headers
  const body = { anthropic_version: VERTEX_VERSION, ...wire.body }
  if (wire.path === '/v1/messages/count_tokens')
    return { ...wire, headers, body, path: '/models/count-tokens:rawPredict' }
  const { model, ...rest } = body as JsonObject
  const method = rest['stream'] === true ? 'streamRawPredict' : 'rawPredict'
  return { ...wire, headers, body: rest, query: withoutBeta(wire.query), path: `/models/${encoded(model)}:${method}` }
}

/** The query without `beta=true`, which has no meaning on Google Cloud. */
const withoutBeta = ({ beta: _, ...query }: WireRequest['query']): WireRequest['query'] => query

/** Version of the messages format on Bedrock, for requests that state none. */
const BEDROCK_VERSION = 'bedrock-2023-05-31'

/**
 * Claude on Bedrock by InvokeModel (docs/wire/converse.md#invokemodel): the path has the model and says whether the
 * answer is streamed, the body has the version and the features in beta.
 */
function bedrockInvoke({ path: _path, headers, body, query: _query, ...wire }: WireRequest): WireRequest {
  const { 'anthropic-version': _, 'anthropic-beta': betas, ...rest } = headers
  const { model, stream, ...fields } = body
  const beta = betas === undefined ? {} : { anthropic_beta: betas.split(',').map(name => name.trim()) }
  return {
    ...wire,
    ...(stream === true ? { accept: 'application/vnd.amazon.eventstream' } : {}),
    ...{ headers: rest, query: {}, body: { anthropic_version: BEDROCK_VERSION, ...beta, ...fields } },
    path: `/model/${encoded(model)}/${stream === true ? 'invoke-with-response-stream' : 'invoke'}`,
  }
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

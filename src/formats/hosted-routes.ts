import type { IncomingHttpHeaders } from 'node:http'
import { invalid } from '../canonical/error.ts'
import { isObject, type JsonObject, parseObject } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import { MESSAGES_VERSION } from './dialects/messages.ts'
import { BEDROCK } from './rows/converse.ts'
import { messages } from './rows/messages.ts'
import type { Endpoint } from './rows/row.ts'

/*
 * Cloud endpoints that accept requests in the formats of other vendors, with the model in the path
 * (docs/wire/messages.md#google-cloud, docs/wire/converse.md#invokemodel).
 */

/**
 * Matches the path of a publisher's model. Captures the publisher, the model and the method. The version is optional,
 * because some clients omit it.
 */
const PUBLISHED_MODEL_PATH =
  /^(?:\/v1(?:beta1)?)?(?:\/projects\/[^/]+\/locations\/[^/]+)?\/publishers\/(anthropic|google)\/models\/([^/]+)(?::|%3[Aa])([A-Za-z]+)$/

/** The parts of a Google Cloud path. */
export interface PublishedModel {
  readonly publisher: 'anthropic' | 'google'
  /** The model, exactly as spelled in the path. */
  readonly model: string
  readonly method: string
}

/** Returns the parts of a Google Cloud path, or undefined for any other path. */
export function publishedModel(path: string): PublishedModel | undefined {
  const [, publisher, model, method] = PUBLISHED_MODEL_PATH.exec(path) ?? []
  if (publisher !== 'anthropic' && publisher !== 'google') return undefined
  return { publisher, model: model!, method: method! }
}

/** Placeholder for the model in the path of a token count. The body contains the actual model. */
const COUNT_PLACEHOLDER = 'count-tokens'

const [CREATE_ENDPOINT, COUNT_ENDPOINT] = messages.endpoints!

/** An endpoint whose path states some fields of the body. */
export interface HostedEndpoint extends Endpoint {
  readonly hosted: HostedFields
}

/** Returns the endpoint for a method of an `anthropic` model, or undefined if the method is unknown. */
export function claudeEndpoint({ model, method }: PublishedModel): HostedEndpoint | undefined {
  if (method !== 'rawPredict' && method !== 'streamRawPredict') return undefined
  const path = '/v1/publishers/anthropic/models/{model}:rawPredict'
  if (model === COUNT_PLACEHOLDER) return { ...COUNT_ENDPOINT!, path, hosted: {} }
  const stream = method === 'streamRawPredict' ? ({ stream: true } as const) : {}
  return { ...CREATE_ENDPOINT!, path, hosted: { model: percentDecoded(model), ...stream } }
}

/** Matches the path for invoking a Bedrock model in its own format. Captures the model and the method. */
const INVOKED_MODEL_PATH = /^(?:\/bedrock)?\/model\/(.+)\/(invoke|invoke-with-response-stream)$/

/** Returns the endpoint of a Claude model on Bedrock, or undefined for any other path. */
export function invokeEndpoint(path: string): HostedEndpoint | undefined {
  const [, model, method] = INVOKED_MODEL_PATH.exec(path) ?? []
  if (model === undefined) return undefined
  const stream = method === 'invoke' ? {} : ({ stream: true } as const)
  return {
    ...{ ...CREATE_ENDPOINT!, ...BEDROCK, path: `/model/{model}/${method}`, framing: 'chunks', errors: 'converse' },
    headers: CREATE_ENDPOINT!.headers,
    hosted: { model: percentDecoded(model), ...stream },
  }
}

/** A request in another format, contained in an endpoint's body. */
export interface WrappedRequest {
  readonly endpoint: HostedEndpoint
  readonly body: JsonObject
}

/**
 * Returns the request in the model's own format whose tokens should be counted (docs/wire/converse.md#token-counting).
 * Returns undefined if the body has none.
 *
 * @param below the endpoint's path below its base URL, which contains the model.
 * @throws GatewayError `invalid-request` if the request is not JSON in base64.
 */
export function wrappedRequest(below: string, { input }: JsonObject): WrappedRequest | undefined {
  const invokeRequest = isObject(input) ? input['invokeModel'] : undefined
  if (!isObject(invokeRequest)) return undefined
  const text = invokeRequest['body']
  const body = typeof text === 'string' ? parseObject(Buffer.from(text, 'base64').toString()) : undefined
  if (body === undefined) throw invalid(`${WRAPPED_BODY_PARAM}: must be a JSON object in base64.`, WRAPPED_BODY_PARAM)
  const [, model] = /^\/model\/(.+)\/[a-z-]+$/.exec(below) ?? []
  return { endpoint: { ...COUNT_ENDPOINT!, hosted: { model: percentDecoded(model!) } }, body }
}

const WRAPPED_BODY_PARAM = 'input.invokeModel.body'

/** Fields stated by the path of a hosted request. */
export interface HostedFields {
  readonly model?: string
  readonly stream?: true
}

/** Request parts that a hosting cloud changes. */
interface RequestParts {
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
}

/**
 * Converts a hosted request to the form that the format's own clients send, with the version and beta features in
 * headers. Claude Code names some of its beta features in the body, and others in the header.
 */
export function unhosted(fields: HostedFields, { headers, body }: RequestParts): RequestParts {
  const { anthropic_version: version, anthropic_beta: bodyBetas, ...rest } = body
  const betas = [headers['anthropic-beta'] ?? [], Array.isArray(bodyBetas) ? bodyBetas.map(String) : []].flat()
  return {
    body: { ...rest, ...fields },
    headers: {
      'anthropic-version': typeof version === 'string' && VERSION_DATE.test(version) ? version : MESSAGES_VERSION,
      ...headers,
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
    },
  }
}

/** Matches a version of the format. Clouds have their own names, such as `vertex-2023-10-16`. */
const VERSION_DATE = /^\d{4}-\d{2}-\d{2}$/

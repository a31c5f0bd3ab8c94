import { append } from '../canonical/lists.ts'
import { type Json, type JsonObject, parseObject } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import { NamedFields } from '../config/recording-rules.ts'
import { HARMLESS_HEADERS, isHarmlessParameter } from './public-headers.ts'
import { isCredential, SECRET_NAME } from './secret-names.ts'
import { textsWithin } from './unreadable-json.ts'

/*
 * Credentials within bodies: those that a request gives to the upstream for other services (MCP servers, data sources,
 * the network of a container), and those that an answer hands out.
 */

/**
 * Objects that contain the fields of a request: in a frame or an event, in a count of tokens or a client token of Gemini,
 * and in batches of Anthropic and of Gemini (their published schemas, read on 2026-12-01).
 */
const OWNERS = [
  ...['', 'session.', 'response.', 'interaction.', 'setup.', 'bidiGenerateContentSetup.', 'generateContentRequest.'],
  ...['requests.*.params.', 'batch.inputConfig.requests.requests.*.request.'],
]

/** Fields with a credential. `headers` contains any headers. */
const REQUEST_PATHS = [
  ...['tools.*.authorization', 'tools.*.headers.*', 'tools.*.mcpServers.*.streamableHttpTransport.headers.*'],
  ...['tools.*.environment.network_policy.domain_secrets.*.value'],
  ...['tools.*.container.network_policy.domain_secrets.*.value'],
  ...[
    'tools.*.retrieval.externalApi.apiAuth',
    'tools.*.retrieval.externalApi.authConfig',
    'tools.*.googleMaps.authConfig',
  ],
  ...['mcp_servers.*.authorization_token', 'mcp_servers.*.headers.*', 'connectors.*.user_access_token'],
  ...['key', 'encoded_api_key', 'access_token', 'connection_string'].flatMap(name => [
    `data_sources.*.parameters.authentication.${name}`,
    `data_sources.*.parameters.embedding_dependency.authentication.${name}`,
  ]),
  ...['api_key', 'client_secret.value'],
].flatMap(path => OWNERS.map(owner => owner + path))

/**
 * Fields of requests that create containers of OpenAI, and sessions and vaults of Anthropic's managed agents (their
 * published schemas, read on 2026-12-01).
 */
const RESOURCE_PATHS = [
  ...['network_policy.domain_secrets.*.value', 'resources.*.authorization_token', 'authorization_token'],
  ...['auth.token', 'auth.access_token', 'auth.refresh.refresh_token'],
  'auth.refresh.token_endpoint_auth.client_secret',
]

/**
 * Fields in which callers of LiteLLM's proxy give it the credentials of an upstream (its page "Clientside LLM
 * Credentials", and `CredentialLiteLLMParams` of version 1.108.7, read on 2026-12-01).
 */
const LITELLM_FIELDS = [
  ...['api_key', 'aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'azure_ad_token', 'azure_password'],
  ...['vertex_credentials', 'vertex_ai_credentials', 'extra_headers.*', 'headers.*'],
]
const LITELLM_PATHS = ['', 'fallbacks.*.', 'user_config.model_list.*.litellm_params.'].flatMap(owner =>
  LITELLM_FIELDS.map(field => owner + field),
)
const CREDENTIAL_PATHS = [...new Set([...REQUEST_PATHS, ...RESOURCE_PATHS, ...LITELLM_PATHS])]

/** Fields with an address, which may contain a password or a key. */
const ADDRESS_PATHS = [
  ...['tools.*.server_url', 'tools.*.url', 'tools.*.mcpServers.*.streamableHttpTransport.url', 'mcp_servers.*.url'],
].flatMap(path => OWNERS.map(owner => owner + path))

/** Fields whose name alone says nothing. The object around them names the credential. */
const VAGUE_NAMES = new Set(['*', 'value', 'key', 'token'])

/** Returns the names of the fields or objects that have these paths, wherever they are. */
const namesOf = (paths: readonly string[]): ReadonlySet<string> =>
  new Set(paths.map(path => path.split('.').findLast(step => !VAGUE_NAMES.has(step))!))

const CREDENTIAL_NAMES = namesOf(CREDENTIAL_PATHS)
const ADDRESS_NAMES = namesOf(ADDRESS_PATHS)

/** Endpoints whose answer is a credential, and its field. */
const ISSUERS: readonly (readonly [url: RegExp, field: string])[] = [
  [/\/client_secrets(?:\?|$)/, 'value'],
  [/\/auth_tokens(?:\?|$)/, 'name'],
]

const namedFields = (paths: readonly string[]): NamedFields => new NamedFields(paths.map(path => path.split('.')))
const CREDENTIAL_FIELDS = namedFields(CREDENTIAL_PATHS)
const ADDRESS_FIELDS = namedFields(ADDRESS_PATHS)

/** Returns the paths of the fields with credentials in the bodies of an exchange. */
export const credentialPaths = (url: string): readonly string[] => [
  ...CREDENTIAL_PATHS,
  ...ISSUERS.flatMap(([issuer, field]) => (issuer.test(url) ? [field] : [])),
]

/** Names of which every body with such a credential has at least one. */
const MARKER =
  /authorization|headers|secret|credentials|password|authentication|authconfig|apiauth|api_?key|access_key|token"|url/i

/** Returns the credentials in the text of a body or a frame, which the other side may repeat. */
export function credentialsInText(text: string): readonly string[] {
  if (!MARKER.test(text)) return []
  const body = parseObject(text)
  return body === undefined ? credentialsInUnreadable(text) : credentialsInBody(body)
}

/**
 * Returns the credentials in a text that is no JSON object, such as the body that a client failed to write: of fields
 * with the names of those with credentials. Their paths may be wrong, and so may hide nothing.
 */
export function credentialsInUnreadable(text: string): readonly string[] {
  if (!MARKER.test(text)) return []
  const found: string[] = []
  for (const { value, name } of textsWithin(text, CREDENTIAL_NAMES))
    if (!HARMLESS_HEADERS.test(name.toLowerCase())) append(found, credentialParts(value))
  for (const { value } of textsWithin(text, ADDRESS_NAMES)) append(found, credentialsInUrl(value))
  return found.filter(isCredential)
}

/**
 * Returns the credentials in a body, each also without its scheme (`Bearer`).
 *
 * @param isSecret whether a header or a field contains a secret rather than a setting, by its path.
 */
export function credentialsInBody(
  body: JsonObject,
  isSecret = (path: string): boolean => SECRET_NAME.test(path),
): readonly string[] {
  const found: string[] = []
  eachNamed(body, CREDENTIAL_FIELDS, '', (text, path) => {
    if (isSecret(path)) append(found, credentialParts(text))
  })
  eachNamed(body, ADDRESS_FIELDS, '', text => append(found, credentialsInUrl(text)))
  return found.filter(isCredential)
}

/** Returns a credential, its parts without the scheme, and the secrets of a key file. */
const credentialParts = (text: string): readonly string[] => [text, ...text.split(/\s+/), ...credentialsOfAccount(text)]

/** Returns the secret fields in the text of a key file. */
const credentialsOfAccount = (text: string): readonly string[] =>
  Object.entries((text.startsWith('{') ? parseObject(text) : undefined) ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' && SECRET_NAME.test(name) ? [value] : [],
  )

/** Calls back with every text at named fields, and its path. */
function eachNamed(
  value: Json,
  fields: NamedFields,
  path: string,
  found: (text: string, path: string) => void,
  isNamed = fields.isNamed,
): void {
  if (!isNamed && fields.isEmpty) return
  if (typeof value === 'string' && isNamed) found(value, path)
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value as JsonObject)) {
      const inner = fields.inner(name)
      eachNamed(item, inner, `${path}.${name}`, found, isNamed || inner.isNamed)
    }
}

/** Returns the user, the password and the keys in a URL, as they are and as the URL writes them. */
function credentialsInUrl(text: string): readonly string[] {
  if (!URL.canParse(text)) return []
  const { username, password, searchParams } = new URL(text)
  const parameters = [...searchParams].flatMap(([name, value]) =>
    SECRET_NAME.test(name) && !isHarmlessParameter(name) ? [value] : [],
  )
  return [username, password, percentDecoded(username), percentDecoded(password), ...parameters]
}

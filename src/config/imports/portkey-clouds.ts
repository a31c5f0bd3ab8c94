import { defined, isObject, type JsonObject } from '../../canonical/node.ts'
import { addressIn, objectOf, textOf } from './draft.ts'

/** Account of a target or integration. */
export interface PortkeyAccount {
  readonly provider: string
  readonly model: string | undefined
  /** Fields of the channel. */
  readonly fields: { readonly [field: string]: unknown }
}

interface Cloud {
  /** Fields of a target that the channel can express. */
  readonly taken: readonly string[]
  /** Returns the account, or the reason why there is none. `host` is the address in `custom_host`. */
  account(target: JsonObject, model: string | undefined, host: string | undefined): PortkeyAccount | string
}

/** Cloud providers by Portkey's name (`azure-openai`, `bedrock`, `google-vertex-ai` of its providers, read on 2026-11-30). */
export const CLOUDS: { readonly [provider: string]: Cloud } = {
  'azure-openai': {
    taken: [
      ...['resource_name', 'deployment_id', 'api_version', 'azure_auth_mode', 'azure_managed_client_id'],
      ...['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret', 'azure_entra_scope'],
    ],
    account: azureAccount,
  },
  bedrock: {
    taken: ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'aws_region', 'aws_auth_type'],
    account: (target, model, base_url) =>
      textOf(target['aws_auth_type']) === 'assumedRole'
        ? lost('aws_auth_type')
        : {
            ...{ provider: 'bedrock-converse', model },
            fields: defined({ region: textOf(target['aws_region']) ?? 'us-east-1', base_url, ...awsFields(target) }),
          },
  },
  'vertex-ai': {
    taken: ['vertex_project_id', 'vertex_region', 'vertex_service_account_json'],
    account: vertexAccount,
  },
}

/** Returns the reason why a target is left out that says by a field which account or address it uses. */
export const lost = (field: string): string =>
  `a channel has no such ${field}, without which it would reach another account or address`

function azureAccount(
  target: JsonObject,
  model: string | undefined,
  host: string | undefined,
): PortkeyAccount | string {
  const resource = textOf(target['resource_name'])
  const address = host ?? addressIn(`https://${resource ?? ''}.openai.azure.com/openai`)
  if (address === undefined || (host ?? resource) === undefined) return 'its resource_name is missing'
  const credential = azureCredential(target)
  if (credential === undefined) return lost('azure_auth_mode')
  // The deployment is in the path, and the model is only a parameter beside it.
  const deployment = textOf(target['deployment_id']) ?? model
  const version = textOf(target['api_version'])
  if (version === 'v1')
    return {
      ...{ provider: 'azure-openai', model: deployment },
      fields: { ...credential, base_url: `${address}/v1` },
    }
  if (!address.endsWith('/openai')) return 'its custom_host does not end with /openai, as the addresses of Azure do'
  const base_url = address.slice(0, -'/openai'.length)
  const fields = defined({ ...credential, base_url, api_version: version })
  return { provider: 'azure-deployments', model: deployment, fields }
}

/** Returns the key or the sign-in at Entra, or undefined for a sign-in that the config cannot express. */
function azureCredential(target: JsonObject): { readonly [field: string]: unknown } | undefined {
  const text = (field: string): string | undefined => textOf(target[field])
  const scope = text('azure_entra_scope')
  const client = { tenant: text('azure_entra_tenant_id'), client_id: text('azure_entra_client_id') }
  const client_secret = text('azure_entra_client_secret')
  if (text('azure_auth_mode') === undefined) return defined({ key: text('api_key') })
  if (text('azure_auth_mode') === 'entra')
    return { auth: defined({ type: 'azure-client', ...client, client_secret, scope }) }
  return text('azure_auth_mode') === 'managed'
    ? { auth: defined({ type: 'azure-managed', client_id: text('azure_managed_client_id'), scope }) }
    : undefined
}

function awsFields(target: JsonObject): { readonly [field: string]: unknown } {
  const key = textOf(target['api_key'])
  const [id, secret] = [textOf(target['aws_access_key_id']), textOf(target['aws_secret_access_key'])]
  if (id === undefined || secret === undefined) return key === undefined ? { auth: { type: 'aws-default' } } : { key }
  const session_token = textOf(target['aws_session_token'])
  return { auth: defined({ type: 'aws-keys', access_key_id: id, secret_access_key: secret, session_token }) }
}

/** Matches a model of Vertex AI with its maker before its name. */
const WITH_MAKER = /^(google|anthropic|meta|endpoints|mistralai)\.(.*)$/s

function vertexAccount(
  target: JsonObject,
  model: string | undefined,
  host: string | undefined,
): PortkeyAccount | string {
  const [, maker = 'google', name = model] = WITH_MAKER.exec(model ?? '') ?? []
  if (maker !== 'google' && maker !== 'anthropic')
    return 'channels of Vertex AI serve conversations of Gemini and Claude only'
  const file = target['vertex_service_account_json']
  const account = isObject(file) ? JSON.stringify(file) : textOf(file)
  const key = textOf(target['api_key'])
  const auth = account === undefined ? { type: 'google-default' } : { type: 'google-service-account', account }
  const fields = {
    project: textOf(objectOf(file)['project_id']) ?? textOf(target['vertex_project_id']),
    region: textOf(target['vertex_region']),
    base_url: host && `${host}/v1`,
    ...(key === undefined || account !== undefined ? { auth } : { key }),
  }
  return { provider: maker === 'google' ? 'vertex' : 'vertex-claude', model: name, fields: defined(fields) }
}

import { defined, type JsonObject } from '../../canonical/node.ts'
import { addressIn, textOf } from './draft.ts'

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
  /** Returns the account, or the reason why there is none. */
  account(target: JsonObject): PortkeyAccount | string
}

/** Cloud providers by Portkey's name. */
export const CLOUDS: { readonly [provider: string]: Cloud } = {
  'azure-openai': {
    taken: ['resource_name', 'deployment_id', 'api_version'],
    account(target) {
      const base_url = addressIn(`https://${textOf(target['resource_name']) ?? ''}.openai.azure.com`)
      if (textOf(target['resource_name']) === undefined || base_url === undefined) return 'its resource_name is missing'
      const [key, api_version] = [textOf(target['api_key']), textOf(target['api_version'])]
      const fields = defined({ key, base_url, api_version })
      return { provider: 'azure-deployments', model: textOf(target['deployment_id']), fields }
    },
  },
  bedrock: {
    taken: ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'aws_region'],
    account: target => ({
      provider: 'bedrock-converse',
      model: undefined,
      fields: defined({ region: textOf(target['aws_region']) ?? 'us-east-1', ...awsFields(target) }),
    }),
  },
  'vertex-ai': {
    taken: ['vertex_project_id', 'vertex_region'],
    account: target => ({
      provider: 'vertex',
      model: undefined,
      fields: defined({
        project: textOf(target['vertex_project_id']),
        region: textOf(target['vertex_region']),
        auth: { type: 'google-default' },
      }),
    }),
  },
}

function awsFields(target: JsonObject): { readonly [field: string]: unknown } {
  const key = textOf(target['api_key'])
  const [id, secret] = [textOf(target['aws_access_key_id']), textOf(target['aws_secret_access_key'])]
  if (id === undefined || secret === undefined) return key === undefined ? { auth: { type: 'aws-default' } } : { key }
  const session_token = textOf(target['aws_session_token'])
  return { auth: defined({ type: 'aws-keys', access_key_id: id, secret_access_key: secret, session_token }) }
}

import { expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'

/* An imported channel never sends keys and prompts to another account or address than the entry that it is made from. */

const MODELS = [
  ...['openai/m', 'm', 'anthropic/m', 'azure/m', 'azure_ai/m', 'azure_ai/claude', 'bedrock/m', 'bedrock/converse/m'],
  ...[
    'vertex_ai/m',
    'vertex_ai/claude',
    'gemini/m',
    'hosted_vllm/m',
    'litellm_proxy/m',
    'ollama/m',
    'cohere/m',
    'groq/m',
  ],
]
/** Parameters of an entry that decide where its requests go, or with which credential, with other ones that they need. */
const DESTINATIONS: readonly (readonly [name: string, value: string, others?: object])[] = [
  ['api_key', 'the-key-of-the-entry'],
  ['api_base', 'https://own.example.org/v2'],
  ['base_url', 'https://own.example.org/v2'],
  ['litellm_credential_name', 'nowhere-defined'],
  ['aws_role_name', 'arn:aws:iam::1:role/own'],
  ['aws_web_identity_token', 'own-identity-token'],
  ['aws_bedrock_runtime_endpoint', 'https://own.example.org'],
  ['aws_profile_name', 'own-profile'],
  ['aws_secret_access_key', 'own-secret-key', { aws_access_key_id: 'own-id' }],
  ['aws_session_token', 'own-session-token', { aws_access_key_id: 'own-id', aws_secret_access_key: 'own-secret-key' }],
  ['vertex_project', 'own-project'],
  ['vertex_ai_project', 'own-project'],
  ['vertex_credentials', '/own/file.json'],
  ['client_secret', 'own-client-secret', { client_id: 'own-client', tenant_id: 'own-tenant' }],
  ['azure_ad_token', 'own-entra-token'],
]

/** Parameters that other upstreams than those of the prefix ignore in LiteLLM, too. */
const FOREIGN: readonly (readonly [parameter: RegExp, model: RegExp])[] = [
  [/^aws_/, /^bedrock/],
  [/^vertex_/, /^vertex_ai/],
  [/^(?:client_secret|azure_ad_token)$/, /^azure/],
]

const cases = MODELS.flatMap(model =>
  DESTINATIONS.filter(([name]) => FOREIGN.every(([parameter, own]) => !parameter.test(name) || own.test(model))).map(
    ([name, value, others]) => ({ model, name, value, others }),
  ),
)

test.each(cases)('$model of LiteLLM with $name', ({ model, name, value, others }) => {
  const entry = {
    model_name: 'm',
    litellm_params: { model, vertex_location: 'r', aws_region_name: 'r', ...others, [name]: value },
  }
  const { text, channels } = importConfig('litellm', JSON.stringify({ model_list: [entry] }), 'f')
  const config = text.replaceAll(/^#.*\n/gm, '')
  expect(channels === 0 || config.includes(value.replace(/\/v[12]$/, '')), text).toBe(true)
})

test('an entry of LiteLLM has the credential that it names, and its own parameters before it', () => {
  const values = { api_key: 'os.environ/EU', api_base: 'https://eu.example.org/v1' }
  const named = (params: object) => ({ model: 'openai/m', litellm_credential_name: 'eu', ...params })
  const file = {
    credential_list: [{ credential_name: 'eu', credential_values: values }, { credential_name: 'unused' }, { x: 1 }],
    model_list: [
      { model_name: 'a', litellm_params: named({}) },
      { model_name: 'b', litellm_params: named({ api_key: 'own' }) },
    ],
  }
  const { text, notes } = importConfig('litellm', JSON.stringify(file), 'f')
  expect(text).toMatch(/key: \$\{EU\}\n {4}base_url: https:\/\/eu\.example\.org\/v1\n(?:.*\n)+ {6}a: m\n/)
  expect(text).toMatch(/key: own\n {4}base_url: https:\/\/eu\.example\.org\/v1\n(?:.*\n)+ {6}b: m\n/)
  expect(notes.map(({ path }) => path)).toEqual(['credential_list[2]', 'credential_list[2].x', 'credential_list'])
})

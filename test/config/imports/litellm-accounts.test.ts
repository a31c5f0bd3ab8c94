import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/*
 * Accounts, owners and prices of LiteLLM's entries. What version 1.108.7 does with each of them was read from its
 * requests to recording upstreams and from its router (2026-12-01).
 */

const ENV = {
  AWS_REGION: 'us-east-1',
  OPENAI_API_KEY: 'k',
  AZURE_API_KEY: 'k',
  ANTHROPIC_API_KEY: 'k',
  XAI_API_KEY: 'k',
}

const importEntries = (...entries: readonly object[]) =>
  importConfig('litellm', JSON.stringify({ model_list: entries }), 'file')
const importEntry = (litellm_params: object, model_info = {}) =>
  importEntries({ model_name: 'm', litellm_params, model_info })
const channelsOf = ({ text }: { readonly text: string }) => readConfig(text, ENV).channels
const pathsOf = ({ notes }: ReturnType<typeof importEntry>): readonly string[] => notes.map(({ path }) => path)

describe('an entry with several organisations', () => {
  const organization = ['org-1', 'org-2']
  const params = { model: 'openai/gpt-4.1', api_key: 'key' }

  test('is one channel for each of them, as in LiteLLM', () => {
    const imported = importEntry({ ...params, organization })
    expect(channelsOf(imported)).toHaveLength(2)
    for (const one of organization) expect(imported.text).toContain(`openai-organization: ${one}`)
    expect(imported.notes).toEqual([])
  })

  test('has each note once', () => {
    expect(pathsOf(importEntry({ ...params, organization, seed: 1 }))).toEqual(['model_list[0].litellm_params.seed'])
  })

  test('of which none is a text is left out', () => {
    expect(channelsOf(importEntries({ litellm_params: { ...params, organization: [7] } }))).toEqual([])
  })
})

test('an account of Vertex AI may be a map', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  const vertex_credentials = { type: 'service_account', client_email: 'a@b.example.org', private_key }
  const imported = importEntry({ model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p', vertex_credentials })
  expect(channelsOf(imported)[0]!.auth).toMatchObject({ type: 'google-service-account' })
  expect(imported.notes).toEqual([])
})

test('a region that LiteLLM does not use is named', () => {
  const params = { model: 'vertex_ai/gemini-2.5-pro', vertex_project: 'p', region_name: 'europe-west1' }
  expect(importEntry(params).text).toContain('region: us-central1')
  expect(pathsOf(importEntry(params))).toEqual(['model_list[0].litellm_params.region_name'])
})

test('the scope of an Entra client is kept', () => {
  const client = { tenant_id: 't', client_id: 'c', client_secret: 's', azure_scope: 'https://gov.example.org/.default' }
  const imported = importEntry({ model: 'azure/d', api_base: 'https://r.openai.azure.us', ...client })
  expect(imported.text).toContain('scope: https://gov.example.org/.default')
  expect(imported.notes).toEqual([])
})

describe('an entry is left out whose account a channel cannot have', () => {
  test.each([
    [{ model: 'azure/d', api_base: 'https://r.openai.azure.com', azure_username: 'u', azure_password: 'p' }],
    [{ model: 'anthropic/claude-sonnet-4-5', anthropic_federation_rule_id: 'r' }],
    [{ model: 'openai/gpt-4.1', openai_identity_provider_id: 'i' }],
    [{ model: 'openai/gpt-4.1', token_exchange_endpoint: 'https://sts.example.org' }],
    [{ model: 'xai/grok-4', use_xai_oauth: true }],
    [{ model: 'openai/gpt-4.1', mock_response: 'a fixed answer' }],
    [{ model: 'openai/gpt-4.1', api_key: 12345 }],
    [{ model: 'openai/gpt-4.1', api_base: ['https://a.example.org'], api_key: 'k' }],
    [{ model: 'bedrock/eu.amazon.nova-pro-v1:0', aws_access_key_id: 1, aws_secret_access_key: 2 }],
  ])('%j', params => {
    const imported = importEntry(params)
    expect(channelsOf(imported)).toEqual([])
    expect(pathsOf(imported)).toContain('model_list[0]')
  })

  test('or that is paused', () => {
    const imported = importEntry({ model: 'openai/gpt-4.1', api_key: 'k' }, { blocked: true })
    expect(channelsOf(imported)).toEqual([])
    expect(imported.notes).toEqual([{ path: 'model_list[0]', text: 'it is paused' }])
    expect(channelsOf(importEntry({ model: 'openai/gpt-4.1', api_key: 'k' }, { blocked: false }))).toHaveLength(1)
  })
})

describe('prices and sizes', () => {
  const params = { model: 'openai/gpt-4.1', api_key: 'k' }

  test('may be texts', () => {
    const costs = { input_cost_per_token: '0.000002', output_cost_per_token: '8e-06' }
    const { models } = readConfig(importEntry({ ...params, ...costs }, { max_input_tokens: '1000' }).text, ENV)
    expect(models.get('m')).toMatchObject({ price: { input: 2, output: 8 }, context: 1000 })
  })

  test('that are no numbers are named', () => {
    const imported = importEntry({ ...params, input_cost_per_token: 'os.environ/COST' }, { max_output_tokens: 'many' })
    expect(pathsOf(imported)).toEqual([
      'model_list[0].litellm_params.input_cost_per_token',
      'model_list[0].model_info.max_output_tokens',
    ])
  })
})

describe('a variable whose name the config cannot have', () => {
  test.each([
    { api_key: 'os.environ/MY-KEY' },
    { api_key: 'k', api_base: 'os.environ/MY.BASE' },
    { api_key: 'k', extra_headers: { 'x-team': 'os.environ/A-B' } },
    { api_key: 'os.environ/' },
    { api_key: 'os.environ/KEY ' },
  ])('leaves the entry out: %j', params => {
    const { text, notes } = importEntry({ model: 'openai/gpt-4.1', ...params })
    expect(text).not.toContain('os.environ')
    expect(notes).toMatchObject([{ path: 'model_list[0]', text: expect.stringContaining('names a variable') }])
  })

  test('is never the text of a key, which anybody could guess', () => {
    const master_key = 'os.environ/MASTER-KEY'
    const config = { model_list: [], general_settings: { master_key } }
    const { text, notes } = importConfig('litellm', JSON.stringify(config), 'file')
    expect(text).not.toContain('key: os.environ')
    expect(notes.map(({ path }) => path)).toContain('keys[0].key')
  })
})

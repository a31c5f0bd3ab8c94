import { describe, expect, test } from 'vitest'
import { importConfig } from '../../../src/config/imports/index.ts'
import { readConfig } from '../../../src/config/read.ts'

/* Models in LiteLLM's database, as version 1.108.7 answers and stores them (2026-12-01). */

const ENV = { ANTHROPIC_API_KEY: 'k' }
const imported = (value: unknown) => importConfig('litellm', JSON.stringify(value), 'models.json')
const entry = (litellm_params: object, model_info: object = {}, model_name = 'm') => ({
  model_name,
  litellm_params: { use_in_pass_through: false, merge_reasoning_content_in_choices: false, ...litellm_params },
  model_info: { id: 'x', db_model: true, key: 'gpt-4o', supports_vision: true, max_tokens: 16_384, ...model_info },
})

describe('the answer of GET /model/info', () => {
  test('is a list of models whose keys are hidden', () => {
    const { text, notes } = imported({ data: [entry({ model: 'anthropic/claude-sonnet-4-5' })] })
    expect(notes).toMatchObject([{ path: 'data', text: expect.stringContaining('hide keys') }])
    expect(readConfig(text, ENV).channels).toMatchObject([{ provider: 'anthropic', key: 'k' }])
  })

  test('has prices of LiteLLM’s table beside those of the operator', () => {
    const params = { model: 'anthropic/claude-sonnet-4-5', input_cost_per_token: 1e-6 }
    const { text } = imported({ data: [entry(params, { input_cost_per_token: 2e-6, output_cost_per_token: 9e-6 })] })
    expect(readConfig(text, ENV).models.get('m')?.price).toEqual({ input: 1 })
  })

  test('has masked headers, which are not sent', () => {
    const extra_headers = { authorization: 'Bear***********ijkl', 'x-a': 'b' }
    const { text } = imported({ data: [entry({ model: 'anthropic/claude-sonnet-4-5', extra_headers })] })
    expect(readConfig(text, ENV).channels[0]!.formats[0]!.headers).toEqual({ 'x-a': 'b' })
  })

  test.each([{ litellm_credential_name: 'cred******-one' }, { azure_ad_token: 'eyJa*******ijkl' }])(
    'leaves out an entry with another account: %j',
    params => expect(imported({ data: [entry({ model: 'openai/gpt-4o', ...params })] }).channels).toBe(0),
  )
})

describe('rows of the table of models', () => {
  const row = (model: string, fields = {}) => ({
    ...{ model_id: 'x', model_name: 'm', created_by: 'a', updated_at: '2026-12-01', blocked: false },
    litellm_params: JSON.stringify({ model, api_key: 'k' }),
    ...{ model_info: '{"id":"x","db_model":true}', ...fields },
  })

  test('are encrypted, and named', () => {
    const { channels, notes } = imported([row(Buffer.alloc(53, 7).toString('base64url')), row('v2:gcm:abc')])
    expect(channels).toBe(0)
    expect(notes).toMatchObject([{ text: expect.stringContaining('encrypted') }])
  })

  test('of a decrypted export are models', () => {
    const { text, notes } = imported([row('anthropic/claude-sonnet-4-5'), row('xai/grok-4', { blocked: true })])
    expect(notes).toMatchObject([{ text: 'it is paused' }])
    expect(readConfig(text, ENV).channels).toMatchObject([{ provider: 'anthropic', key: 'k' }])
  })
})

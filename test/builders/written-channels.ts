import fc from 'fast-check'
import type { Written } from '../../src/config/secret-fields.ts'

/** Texts that YAML, variables and JSON could change on their way. */
const ODD = [
  ['$', '{HOME}'].join(''),
  ['$$', '{X}'].join(''),
  'a: b',
  '"',
  "'",
  '- x',
  '#',
  'ä 𝒳',
  '0123',
  'true',
  '{}',
  '\\',
  ' x',
  '@',
  '%41',
]
const oddText = fc
  .tuple(fc.constantFrom(...ODD), fc.integer({ min: 0, max: 99 }))
  .map(([odd, number]) => `${odd}${number}`)
/** A secret that occurs nowhere by chance. Its last characters are random too. */
export const secretText = fc
  .array(fc.constantFrom(...'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'), {
    minLength: 24,
    maxLength: 32,
  })
  .map(letters => `planted-${letters.join('')}`)

const pool = fc
  .uniqueArray(secretText, { minLength: 1, maxLength: 3 })
  .chain(keys =>
    fc.tuple(...keys.map(key => fc.constantFrom<unknown>(key, { key, weight: 2 }, { key, rpm: 9, concurrent: 1 }))),
  )

const credentials: fc.Arbitrary<Written> = fc.oneof(
  fc.constant({ key: 'none' }),
  secretText.map(key => ({ key })),
  pool.map(keys => ({ keys })),
)

const kinds: fc.Arbitrary<Written> = fc.oneof(
  fc.constantFrom('openai', 'anthropic', 'groq', 'ollama').map(provider => ({ provider })),
  secretText.map(password => ({
    ...{ provider: 'custom', formats: ['chat', 'embeddings'], base_url: `http://user:${password}@127.0.0.1:9/v1` },
  })),
  secretText.map(password => ({
    ...{ provider: 'custom', formats: ['chat', 'messages'] },
    base_url: { chat: 'http://127.0.0.1:9/v1', messages: `http://u:${password}@127.0.0.1:9` },
  })),
  fc.constant({ provider: 'azure-foundry', resource: 'mine' }),
)

const clouds: fc.Arbitrary<Written> = secretText.map(secret => ({
  ...{ provider: 'bedrock', region: 'eu-west-1' },
  auth: { type: 'aws-keys', access_key_id: 'AKIATEST', secret_access_key: secret, session_token: `${secret}-session` },
}))

const model = fc.constantFrom('m', 'smart', 'gpt-5', 'meta/llama-3', '1.5', 'true')

const settings: fc.Arbitrary<Written> = fc.record(
  {
    models: fc.oneof(
      fc.array(model, { maxLength: 3 }),
      fc.dictionary(model, oddText, { maxKeys: 3, noNullPrototype: true }),
    ),
    priority: fc.integer({ min: -3, max: 3 }),
    weight: fc.constantFrom(0, 1, '2', 0.5),
    affinity: fc.constantFrom(true, false, 'on'),
    headers: fc.dictionary(fc.constantFrom('x-team', 'X-Org'), secretText, { maxKeys: 2, noNullPrototype: true }),
    timeout: fc.constantFrom({ first_byte: '30s' }, { idle: '1.5m', connect: '250ms' }),
    max_concurrent: fc.constantFrom(1, '7'),
    allow_headers: fc.constant(['x-a', 'X-B']),
    dialect: fc.constantFrom({}, { limit_field: 'max_tokens' }),
    betas: fc.constantFrom('allow', 'none', ['a', 'b']),
    proxy: fc.oneof(
      fc.constant('none'),
      secretText.map(secret => `http://u:${secret}@127.0.0.1:3128`),
    ),
  },
  { requiredKeys: [] },
)

/** A valid channel that names no file, without its name. */
export const writtenChannel: fc.Arbitrary<Written> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(kinds, credentials) },
      { weight: 1, arbitrary: fc.tuple(clouds, fc.constant({})) },
    ),
    settings,
  )
  .map(([[kind, credential], rest]) => ({ ...kind, ...credential, ...rest }))

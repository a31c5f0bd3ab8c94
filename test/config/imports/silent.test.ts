import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../../src/canonical/node.ts'
import { importConfig } from '../../../src/config/imports/index.ts'

/*
 * No field of a file of Portkey, new-api or one-api is dropped without a word: without the field, the config or its
 * notes differ. published.test.ts has the same law for LiteLLM.
 */

/** Fields that identify or count, and whose values say what the config does anyway. */
const SILENT = new Set([
  ...['data.items.0.id', 'data.items.0.status', 'data.items.0.used_quota', 'data.items.0.priority', '0.id', '0.status'],
  // A model without a status is active, an inactive one is left out, and the note on limits covers them.
  ...['integrations.0.models.0.status', 'integrations.0.models.1.slug', 'integrations.0.rate_limits.0.value'],
])

const CHANNEL = { id: 1, type: 1, key: 'k', status: 1, name: 'n', weight: 2, models: 'a,b', group: 'vip' }
const FILES: readonly (readonly [string, Json])[] = [
  [
    'portkey',
    {
      strategy: { mode: 'loadbalance', on_status_codes: [429], unheard: 1 },
      cache: { mode: 'simple' },
      targets: [
        { provider: 'openai', api_key: 'k', weight: 2, override_params: { model: 'm', top_p: 1 }, unheard: 1 },
        { provider: 'anthropic', api_key: 'k', retry: { attempts: 3 }, request_timeout: 5000, virtual_key: 'v' },
      ],
    },
  ],
  ['portkey', { strategy: { mode: 'unheard' }, targets: [{ provider: 'openai', api_key: 'k' }] }],
  [
    'portkey',
    {
      integrations: [
        {
          ...{ provider: 'openai', slug: 's', rate_limits: [{ value: 1 }], unheard: 1 },
          credentials: { apiKey: 'k', organization: 'o' },
          models: [
            { slug: 'm', status: 'active', pricing_config: { input: 1 } },
            { slug: 'n', status: 'off' },
          ],
        },
      ],
      unheard: 1,
    },
  ],
  [
    'new-api',
    {
      data: {
        items: [
          {
            ...{ ...CHANNEL, base_url: 'http://a', model_mapping: '{"a":"c"}', priority: 1, used_quota: 5 },
            ...{ setting: '{"proxy":"http://x"}', settings: '{"azure":1}', param_override: '{"top_p":1}', tag: '' },
            ...{ channel_info: { is_multi_key: true, multi_key_status_list: { '1': 2 } }, openai_organization: 'o' },
            key: 'a\nb',
          },
        ],
      },
    },
  ],
  ['one-api', [{ ...CHANNEL, type: 3, base_url: 'http://a', config: '{"api_version":"2024"}', system_prompt: 'x' }]],
]

/** Yields the paths of all fields in a value. */
function* fieldsOf(value: Json, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && inner !== '') yield [...path, name]
    yield* fieldsOf(inner, [...path, name])
  }
}

type Fields = { [name: string]: unknown }

function without(value: Json, path: readonly string[]): Json {
  const copy = structuredClone(value)
  const parent = path.slice(0, -1).reduce((inner, step) => inner[step] as Fields, copy as Fields)
  delete parent[path.at(-1)!]
  return copy
}

function imported(gateway: string, file: Json): string {
  try {
    return JSON.stringify(importConfig(gateway, JSON.stringify(file), 'file'))
  } catch (thrown) {
    return (thrown as Error).message
  }
}

test.each(FILES)('no field of %s is dropped without a word: %j', (gateway, file) => {
  const whole = imported(gateway, file)
  const silent = [...fieldsOf(file)].filter(path => imported(gateway, without(file, path)) === whole)
  // A note names the field that contains others, and covers them.
  const isCovered = (path: readonly string[]): boolean => {
    const parent = path.at(-2) ?? '0'
    return !/^(items|targets|models|\d+)$/.test(parent) && whole.includes(parent)
  }
  const uncovered = silent.filter(path => !isCovered(path))
  expect(uncovered.map(path => path.join('.')).filter(path => !SILENT.has(path))).toEqual([])
})

describe('an integration of Portkey', () => {
  const integration = (more: JsonObject) =>
    importConfig(
      'portkey',
      JSON.stringify({
        integrations: [
          { provider: 'anthropic', slug: 'other', credentials: { apiKey: 'k' } },
          { provider: 'openai', slug: 's', ...more },
        ],
      }),
      'file',
    ).text

  test('whose models are all inactive gets no channel, which would have all models', () => {
    const text = integration({ credentials: { apiKey: 'k' }, models: [{ slug: 'm', status: 'inactive' }] })
    expect(text).toContain('none of them is active')
    expect(text).not.toContain('provider: openai')
  })

  test('with a host of its own gets no channel, which would send the key and the prompts to the vendor', () => {
    const text = integration({ credentials: { apiKey: 'k-of-the-host', customHost: 'https://own.example.org' } })
    expect(text).toContain('credentials.customHost')
    expect(text).not.toContain('k-of-the-host')
  })
})

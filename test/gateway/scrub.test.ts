import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrubber, scrubJson } from '../../src/gateway/scrub.ts'
import type { Target } from '../../src/upstreams/router.ts'
import { channelAt } from '../builders/config.ts'
import { holds } from '../laws/support.ts'

const KEY = 'upstream-key-1234-of-the-operator'

/** A target at a channel with this name. */
function targetOf(
  name: string,
  { baseUrl = 'https://eu.llm-provider.example/v1', upstreamModel = 'm', key = KEY } = {},
) {
  const channel = channelAt(baseUrl, { name, key })
  return { channel, format: channel.formats[0]!, upstreamModel, native: true } as unknown as Target
}

const WORDS = [
  ...[
    'messages',
    'content',
    'model',
    'chat',
    'text',
    'input',
    'default',
    'tools',
    'prompt',
    'api',
    'a',
    'the',
    'azure',
  ],
  ...['is', 'required', 'image', 'rate-limit', 'default-value', 'not found', 'context', 'max_tokens', 'none'],
]
/** Messages as upstreams write them: words and paths of fields. */
const words = fc
  .array(
    fc.oneof(
      fc.constantFrom(...WORDS),
      fc
        .array(fc.oneof(fc.constantFrom(...WORDS), fc.nat(9).map(String)), { minLength: 2, maxLength: 5 })
        .map(path => path.join('.'))
        // Four numbers look like an address.
        .filter(path => !/(?:\d\.){3}\d/.test(path)),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map(list => `${list.join(' ')}: Field required`)
const names = fc.oneof(fc.constantFrom(...WORDS), fc.stringMatching(/^[a-z][a-z0-9_.-]{0,11}$/))

describe('trap 114: messages of upstreams', () => {
  test('keep their words and the paths of fields, whatever a channel, its host or its model is called', () => {
    holds(fc.tuple(words, names, fc.constantFrom(...WORDS), fc.constantFrom(...WORDS)), ([text, name, host, model]) => {
      const baseUrl = `http://${host.replaceAll(/[^a-z-]/g, '')}:8000/v1`
      const upstreamModel = model.replaceAll(/[^a-z_]/g, '')
      const scrub = scrubber(targetOf(name, { baseUrl, upstreamModel }), 'caller-model-1')
      expect(scrub(text)).toBe(text)
      expect(scrubJson({ message: text, param: 'messages.0.content', loc: ['body', name] }, scrub)).toEqual({
        ...{ message: text, param: 'messages.0.content', loc: ['body', name] },
      })
    })
  })

  const secrets = fc.constantFrom(
    ...[
      KEY,
      `${KEY.slice(0, 14)}****`,
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('base64').replace(/=+$/, ''),
    ],
    ...['eu.llm-provider.example', 'https://eu.llm-provider.example/v1/chat', '10.1.2.3', 'redis.svc.cluster.local'],
  )

  test('lose keys and hosts at any place in them, and names in quotes', () => {
    holds(
      fc.tuple(words, words, secrets, names, fc.constantFrom('""', "''", '``', '“”', '‘’', '«»')),
      ([before, after, secret, name, [open, close]]) => {
        const scrub = scrubber(targetOf(name), 'caller-model-1')
        expect(scrub(`${before} ${secret} ${after}`)).not.toContain(secret)
        expect(scrub(`${before} ${open}${name}${close} ${after}`)).toContain(`${open}[upstream]${close}`)
        expect(JSON.stringify(scrubJson({ error: { provider: name } }, scrub))).toBe(
          '{"error":{"provider":"[upstream]"}}',
        )
      },
    )
  })

  test.each([
    ['http://chat:8000/v1', 'chat: connect to http://chat:8000/v1 at chat:8000', 'chat: connect to'],
    [
      'http://chat/v1',
      'getaddrinfo ENOTFOUND chat in context of chat',
      'getaddrinfo ENOTFOUND [upstream] in context of chat',
    ],
    ['http://chat:8000/v1', 'no such host "chat"', 'no such host "[upstream]"'],
  ])('a host without a dot, %s, is one where a host is expected: %s', (baseUrl, text, expected) => {
    const said = scrubber(targetOf('c', { baseUrl }), 'm')(text)
    expect(said).toContain(expected)
    expect(said).not.toMatch(/\/\/chat|chat:8000|ENOTFOUND chat|"chat"/)
  })

  test.each([
    ['prod', 'The model `prod` does not exist in prod.', 'The model `mine` does not exist in prod.'],
    ['prod-4o', 'models/prod-4o is not found', 'models/mine is not found'],
    ['prod', 'The model "models/prod" is overloaded', 'The model "models/mine" is overloaded'],
    ['prod', 'said: {\\"model\\":\\"prod\\"}', 'said: {\\"model\\":\\"mine\\"}'],
  ])('the upstream’s model %s is named as the caller names it: %s', (upstreamModel, text, expected) => {
    expect(scrubber(targetOf('c', { upstreamModel }), 'mine')(text)).toBe(expected)
  })

  test.each([
    ['in organization org-AbCdEf123456GhIjKl on tokens', 'in organization [account] on tokens'],
    ["your organization's limit (organization 3f2b8c1e-1a2b-4c3d-9e8f-001122334455)", '(organization [account])'],
    ['project_number:123456789012 has no quota', 'project_number:[account] has no quota'],
    ['The project is required; account: gemini-2.5', 'The project is required; account: gemini-2.5'],
  ])('accounts of the operator are removed: %s', (text, expected) => {
    expect(scrubber(targetOf('c'), 'm')(text)).toContain(expected)
  })

  test('a short key is removed as a word, not within one', () => {
    expect(scrubber(targetOf('c', { key: 'text' }), 'm')('context of text')).toBe('context of [upstream]')
  })

  test('a channel called like the caller’s model leaves its name to the caller', () => {
    expect(scrubber(targetOf('pro'), 'pro')('The model "pro" is busy.')).toBe('The model "pro" is busy.')
  })
})

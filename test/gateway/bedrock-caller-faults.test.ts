import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cloudAnswers } from '../builders/clouds/answers.ts'
import { channelAt, KEY, keyOf } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'

/* Callers of Bedrock with wrong credentials, wrong clocks, wrong regions and unusual names of models. */

const CONVERSE = { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }
const CLAUDE = { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
const OPERATIONS: readonly (readonly [operation: string, body: object])[] = [
  ...([
    ['converse', CONVERSE],
    ['converse-stream', CONVERSE],
    ['invoke', CLAUDE],
  ] as const),
  ...([
    ['invoke-with-response-stream', CLAUDE],
    ['count-tokens', { input: { converse: CONVERSE } }],
  ] as const),
]
const ARN = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2'

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(cloudAnswers)
  const named = new Map([
    ['m', 'm'],
    ['us.anthropic.claude-opus-4-8-v1:0', 'c'],
    [ARN, 'profile'],
  ])
  const keys = [
    keyOf(KEY, 'dev'),
    { ...keyOf('expired-key-of-the-tests', 'expired'), expiresAt: 1 },
    { ...keyOf('disabled-key-of-the-tests', 'disabled'), enabled: false },
  ]
  const models = { named, patterns: [] }
  gateway = await TestServer.open(
    [channelAt(upstream.address, { format: 'converse', baseUrl: upstream.address, models })],
    {
      config: { keys },
    },
  )
})
beforeEach(() => {
  upstream.seen.length = 0
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

const signed = (key: string, { day = '20261128', region = 'us-east-1', service = 'bedrock' } = {}) => ({
  authorization: `AWS4-HMAC-SHA256 Credential=${key}/${day}/${region}/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
})

describe('credentials of a caller', () => {
  test.each([
    ['that is missing', { authorization: '' }, 'No API key was given.'],
    ['that is an unknown bearer', { authorization: 'Bearer nobody' }, 'The API key is not valid.'],
    ['that is an unknown access key', signed('AKIANOBODY'), 'The API key is not valid.'],
    ['that has expired', { authorization: 'Bearer expired-key-of-the-tests' }, 'The API key has expired.'],
    ['that has expired, as access key', signed('expired-key-of-the-tests'), 'The API key has expired.'],
    ['that is disabled, as access key', signed('disabled-key-of-the-tests'), 'The API key is disabled.'],
  ])('%s gets AWS’s exception with a cause, from every operation', async (_, headers, message) => {
    for (const [operation, body] of OPERATIONS) {
      const answer = await gateway.ask(`/model/m/${operation}`, body, { headers })
      expect([operation, answer.status, answer.headers['x-amzn-errortype'], answer.json.message]).toEqual([
        ...[operation, 401, 'UnrecognizedClientException', message],
      ])
    }
    expect(upstream.seen).toEqual([])
  })

  test.each<[string, { day?: string; region?: string; service?: string }]>([
    ['of yesterday', { day: '20261127' }],
    ['of another year', { day: '19700101' }],
    ['for any region', { region: 'mars-north-1' }],
    ['for another service', { service: 'bedrock-mantle' }],
  ])('that sign a request %s are accepted, because signatures are not checked', async (_, scope) => {
    const headers = { ...signed(KEY, scope), 'x-amz-date': `${scope.day ?? '20261128'}T000000Z` }
    for (const [operation, body] of OPERATIONS)
      expect((await gateway.ask(`/model/m/${operation}`, body, { headers })).status).toBe(200)
  })
})

describe('a model in the path', () => {
  test.each([
    ['us.anthropic.claude-opus-4-8-v1:0', 'c'],
    ['us.anthropic.claude-opus-4-8-v1%3A0', 'c'],
    ['us.anthropic.claude-opus-4-8-v1%3a0', 'c'],
    [ARN, 'profile'],
    [encodeURIComponent(ARN), 'profile'],
    [encodeURIComponent(ARN).toLowerCase(), 'profile'],
    [ARN.replaceAll(':', '%3A'), 'profile'],
    ['%6D', 'm'],
  ])('is %s, encoded or not', async (written, sent) => {
    for (const prefix of ['', '/bedrock'])
      for (const [operation, body] of OPERATIONS) {
        upstream.seen.length = 0
        const { status, text } = await gateway.ask(`${prefix}/model/${written}/${operation}`, body)
        expect(status, text).toBe(200)
        expect(upstream.seen[0]!.url).toMatch(new RegExp(`^/model/${sent}/`))
      }
  })

  test.each([
    ['unknown', 'nobody', 404],
    ['an unknown ARN', encodeURIComponent(`${ARN}/x`), 404],
    ['encoded twice', encodeURIComponent(encodeURIComponent(ARN)), 404],
    ['another one behind dots', 'm/../nobody', 404],
    ['not percent-encoded', '%zz', 404],
    ['a colon alone', '%3A', 404],
  ])('that is %s is a clear error of every operation', async (_, written, status) => {
    for (const [operation, body] of OPERATIONS) {
      const answer = await gateway.ask(`/model/${written}/${operation}`, body)
      expect([operation, answer.status, answer.headers['x-amzn-errortype']]).toEqual([
        ...[operation, status, 'ResourceNotFoundException'],
      ])
      expect(answer.json.message).toMatch(/model|nothing at/i)
    }
    expect(upstream.seen).toEqual([])
  })
})

test('a body that breaks off is a clear error', async () => {
  for (const [operation, body] of OPERATIONS) {
    const { status, headers, json } = await gateway.ask(`/model/m/${operation}`, JSON.stringify(body).slice(0, -9))
    expect([status, headers['x-amzn-errortype']]).toEqual([400, 'ValidationException'])
    expect(json.message).toMatch(/JSON/)
  }
})

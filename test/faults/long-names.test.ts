import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GatewayError, invalid, notFound } from '../../src/canonical/error.ts'
import { excerpt } from '../../src/canonical/text.ts'
import { channelAt } from '../builders/config.ts'
import { type SendOptions, TestServer } from '../builders/gateway.ts'

/* Errors repeat only the beginning of a caller's text, however long the text is. */

const LONG = 'x'.repeat(1_000_000)
const MOST = 2000

let gateway: TestServer
beforeAll(async () => {
  const models = { named: new Map([['m', 'm']]), patterns: [] }
  gateway = await TestServer.open([channelAt('http://127.0.0.1:9', { format: 'chat', models })])
})
afterAll(() => gateway.server.close(0))

const turn = (role = 'user') => [{ role, content: 'hi' }]
const VERSION: SendOptions = { headers: { 'anthropic-version': '2023-06-01' } }
const LIST: SendOptions = { method: 'GET' }

describe('an error', () => {
  test.each<[string, string, object | undefined, SendOptions?]>([
    ['chat', '/v1/chat/completions', { model: LONG, messages: turn() }],
    ['messages', '/v1/messages', { model: LONG, max_tokens: 9, messages: turn() }, VERSION],
    ['responses', '/v1/responses', { model: LONG, input: 'hi' }],
    ['embeddings', '/v1/embeddings', { model: LONG, input: 'hi' }],
    ['images', '/v1/images/generations', { model: LONG, prompt: 'hi' }],
    ['compaction', '/v1/responses/compact', { model: LONG, input: 'hi' }],
    ['contents', `/v1beta/models/${LONG.slice(0, 8000)}:generateContent`, { contents: [] }],
    ['a model of the list', `/v1/models/${LONG.slice(0, 8000)}`, undefined, LIST],
    ['an unknown path', `/v1/${LONG.slice(0, 8000)}`, {}],
    ['a role of chat', '/v1/chat/completions', { model: 'm', messages: turn(LONG) }],
    ['a field of chat', '/v1/chat/completions', { model: 'm', messages: turn(), logit_bias: { [LONG]: 'x' }, n: LONG }],
    ['a role of messages', '/v1/messages', { model: 'm', max_tokens: 9, messages: turn(LONG) }, VERSION],
    ['an effort', '/v1/messages', { model: 'm', max_tokens: LONG, messages: turn() }, VERSION],
    ['an item of responses', '/v1/responses', { model: 'm', input: [{ type: 'message', role: LONG, content: 'hi' }] }],
    ['a content of contents', '/v1beta/models/m:generateContent', { contents: [{ role: LONG, parts: [] }] }],
    ['a video', `/v1/videos/${LONG.slice(0, 8000)}`, undefined, LIST],
  ])('about %s is short', async (_, path, body, options) => {
    const { status, text } = await gateway.ask(path, body, options)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(text.length).toBeLessThan(MOST)
  })

  test('is cut, however it was made', () => {
    for (const refusal of [invalid(LONG, LONG), notFound(LONG)]) {
      expect(refusal).toBeInstanceOf(GatewayError)
      expect(JSON.stringify(refusal.error).length).toBeLessThan(5000)
    }
  })

  test('about the whole names no field', () => expect(invalid('no', '').error).not.toHaveProperty('param'))
})

describe('an excerpt', () => {
  test('is the text where that is short, and well-formed where it is cut', () => {
    expect(excerpt('m')).toBe('m')
    expect(excerpt('ab', 1)).toBe('a…')
    expect(excerpt('🎹🎹', 3).isWellFormed()).toBe(true)
  })
})

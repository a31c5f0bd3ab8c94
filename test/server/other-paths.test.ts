import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/formats/routes.ts'
import { inOriginForm, isUnusual } from '../../src/server/address.ts'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

/* Clients that keep the base URL of another gateway: without a version, with one too many, or below a vendor. */

const { open } = opener()

describe('clients that were set up for LiteLLM', () => {
  test('of OpenAI need no version in their base URL', async () => {
    const { testServer, upstream } = await open(response => json(response, ANSWER))
    const client = new OpenAI({ baseURL: testServer.server.address, apiKey: KEY, maxRetries: 0 })
    const answer = await client.chat.completions.create(ASK as never)
    expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello.' } }] })
    expect(upstream.seen[0]!.url).toBe('/v1/chat/completions')
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['m'])
  })

  test.each(['/anthropic', '/v1'])('of Anthropic may have the base URL %s', async below => {
    const { testServer } = await open(response => json(response, ANSWER))
    const client = new Anthropic({ baseURL: testServer.server.address + below, apiKey: KEY, maxRetries: 0 })
    const answer = await client.messages.create({ ...ASK, max_tokens: 10 } as never)
    expect(answer).toMatchObject({ content: [{ type: 'text', text: 'Hello.' }] })
  })
})

describe('a path', () => {
  test('of every endpoint below /v1 may lack the version', () => {
    const paths = ROUTES.map(({ path }) => path).filter(path => path.startsWith('/v1/'))
    expect(paths.map(path => inOriginForm(path.replace('/v1', '')))).toEqual(paths)
  })

  test.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/models?limit=1', '/v1/models?limit=1'],
    ['/models/m:generateContent', '/v1/models/m:generateContent'],
    ['/responses/resp_1/input_items', '/v1/responses/resp_1/input_items'],
    ['/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/audio/speech', '/v1/audio/speech'],
    ['/v1/v1/messages', '/v1/messages'],
    ['/v1/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['/gemini/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['//chat/completions', '/v1/chat/completions'],
    ['http://gateway.example/embeddings', '/v1/embeddings'],
    ['/openai/v1/models', '/v1/models'],
  ])('%s means %s', (path, meant) => {
    expect(isUnusual(path)).toBe(true)
    expect(inOriginForm(path)).toBe(meant)
  })

  test.each([
    ...['/v1/chat/completions', '/v1beta/models/m:generateContent', '/v2/chat', '/admin/v1/keys', '/console/models'],
    ...['/model/m/converse', '/openai/deployments/m/chat/completions', '/', '/modelsx', '/v10/v1/messages', '/metrics'],
  ])('%s means itself', path => {
    expect(isUnusual(path)).toBe(false)
    expect(inOriginForm(path)).toBe(path)
  })
})

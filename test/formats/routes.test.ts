import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { matchedRoute, modelRoute, ROUTES, wireRequest } from '../../src/formats/routes.ts'

const at = (path: string, body: JsonObject) => {
  const door = ROUTES.find(door => door.path === path) ?? modelRoute(path).route
  return wireRequest(door, { headers: { 'anthropic-version': '2023-06-01' }, query: {} }, body)
}

describe('a body is routed to its endpoint', () => {
  test.each<[string, JsonObject]>([
    ['/v1/completions', { prompt: 'a' }],
    ['/v1/responses', { prompt: { id: 'pmpt_1' } }],
    ['/v1/responses/input_tokens', { input: 'a' }],
    ['/v1/messages/count_tokens', { messages: [] }],
    ['/v1beta/models/m:countTokens', { contents: [] }],
    ['/v1/models/m:countTokens', { generateContentRequest: { contents: [] } }],
  ])('%s takes %j', (path, body) => {
    expect(at(path, body).body).toBe(body)
  })

  test.each<[string, JsonObject, string]>([
    ['/v1/completions', { messages: [] }, '/v1/chat/completions'],
    ['/v1/chat/completions', { prompt: 'a' }, '/v1/completions'],
    ['/v1/messages/count_tokens', { contents: [] }, ':generateContent'],
    ['/v1beta/models/m:countTokens', { messages: [] }, '/v1/messages'],
  ])('%s does not take %j, and says which does', (path, body, other) => {
    expect(() => at(path, body)).toThrow(GatewayError)
    expect(() => at(path, body)).toThrow(other)
  })

  test('a method of models nobody has is not found', () => {
    expect(() => modelRoute('/v1beta/models/m:countEverything')).toThrow('no such method')
  })
})

test('a plain path has the same endpoint before routing; a path that has to be decoded has none yet', () => {
  for (const route of ROUTES) expect(matchedRoute(route.path)).toEqual({ route, streams: false })
  for (const path of [
    '/v1beta/models/gemini-3-pro:streamGenerateContent',
    '/v1/models/a/b:c:generateContent',
    '/v1beta/tunedModels/t:countTokens',
  ])
    expect(matchedRoute(path)).toEqual(modelRoute(path))
  for (const path of [
    ...['/v1beta/models/gemini', '/v1beta/models/gemini:', '/v1beta/models/gemini:constructor', '/v1/chat'],
    ...[
      '/v1beta/models/a%2Fb:generateContent',
      '/v1beta/models/a%3AgenerateContent',
      '/v1beta/files/a:generateContent',
    ],
    ...['/v1beta/models/:generateContent/', '/v1/chat/completions/', '/'],
  ])
    expect(matchedRoute(path)).toBeUndefined()
})

import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'

const { openGateway, openUpstream } = opener()

/** Returns the request that an upstream of the caller's own format receives. */
async function asked(format: string, path: string, body: object, headers = {}, dialect = {}) {
  const upstream = await openUpstream(response => json(response, ANSWER))
  const testServer = await openGateway([channelAt(upstream.address, { format, baseUrl: upstream.address, dialect })])
  await testServer.ask(path, body, { headers })
  return upstream.seen[0]!
}

const SPEECH = { ...ASK, max_tokens: 5 }
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }
const VERSION = { 'anthropic-version': '2031-12-31' }
const STRANGE = 'debug=1&upstream=evil&api-version=2025-01-01&%24fields=a&x=1&x=2'

describe('the query of a request', () => {
  test.each<[string, string, object, string]>([
    ['chat', '/v1/chat/completions', ASK, '/chat/completions'],
    ['responses', '/v1/responses', { model: 'm', input: 'a' }, '/responses'],
    ['messages', '/v1/messages', SPEECH, '/v1/messages'],
    ['messages', '/v1/messages/count_tokens', ASK, '/v1/messages/count_tokens'],
    ['embeddings', '/v1/embeddings', { model: 'm', input: 'a' }, '/embeddings'],
    ['contents', '/v1beta/models/m:generateContent', CONTENTS, '/v1beta/models/m:generateContent'],
    ['contents', '/v1beta/models/m:streamGenerateContent', CONTENTS, '/v1beta/models/m:streamGenerateContent?alt=sse'],
    ['contents', '/v1beta/models/m:countTokens', CONTENTS, '/v1beta/models/m:countTokens'],
  ])('stays here where no format knows it: %s at %s', async (format, path, body, below) => {
    const seen = await asked(format, `${path}?${STRANGE}&key=${KEY}`, body, VERSION)
    expect(seen.url).toBe(below)
  })

  test.each<[string, string, object, string]>([
    ['messages', '/v1/messages?beta=true', SPEECH, '/v1/messages?beta=true'],
    ['messages', '/v1/messages/count_tokens?beta=true&a=b', ASK, '/v1/messages/count_tokens?beta=true'],
    ['responses', '/v1/responses?beta=true&a=b', { model: 'm', input: 'a' }, '/responses?beta=true'],
    [
      'contents',
      '/v1beta/models/m:streamGenerateContent?alt=sse&a=b',
      CONTENTS,
      '/v1beta/models/m:streamGenerateContent?alt=sse',
    ],
  ])('goes along where the format has it: %s at %s', async (format, path, body, below) => {
    const seen = await asked(format, path, body, VERSION)
    expect(seen.url).toBe(below)
  })

  test('a version that is not known yet goes unchanged to an upstream that takes the caller’s', async () => {
    const seen = await asked('messages', '/v1/messages', SPEECH, VERSION, { version: 'caller' })
    expect(seen.headers['anthropic-version']).toBe('2031-12-31')
    const other = await asked('messages', '/v1/messages', SPEECH, VERSION)
    expect(other.headers['anthropic-version']).toBe('2023-06-01')
  })
})

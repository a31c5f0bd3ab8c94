import { describe, expect, test } from 'vitest'
import { channelAt } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { VERSION } from '../builders/http.ts'
import { PNG } from '../builders/media.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'
import { deadAddress, type Script } from '../builders/upstream.ts'

interface Counted {
  readonly tokens: number
  readonly estimated: boolean
}

describe('trap 80: tokens are counted for every model, whatever its upstream does', () => {
  const { openGateway, openUpstream } = opener()

  async function serverAt(address: string, format: string, more: object = {}): Promise<TestServer> {
    const baseUrl = format === 'messages' || format === 'contents' ? address : `${address}/v1`
    return openGateway([channelAt(address, { format, baseUrl, ...more })])
  }

  async function count(testServer: TestServer, body: object = {}): Promise<Counted> {
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hello there!' }], ...body }
    const { status, json, headers } = await testServer.ask('/v1/messages/count_tokens', asked, { headers: VERSION })
    expect(status).toBe(200)
    expect(Object.keys(json)).toEqual(['input_tokens'])
    return { tokens: json.input_tokens, estimated: headers['interlingua-estimate'] === 'true' }
  }

  const json =
    (status: number, body: unknown): Script =>
    response =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const error = { type: 'error', error: { type: 'x_error', message: 'No.' } }

  test.each<[string, Script]>([
    ['does not know the call', json(404, error)],
    ['refuses the gateway', json(401, error)],
    ['says that the request is bad', json(400, error)],
    ['wants to be left alone', json(429, error)],
    ['breaks', json(500, error)],
    ['is overloaded', json(529, error)],
    ['answers something else', json(200, { tokens: 'many' })],
    ['answers no JSON', response => response.writeHead(200).end('<html>')],
    ['hangs up', response => response.destroy()],
    ['never answers', () => {}],
  ])('an upstream that %s: an estimate, and the channel is as well as before', async (_, script) => {
    const upstream = await openUpstream((response, seen) =>
      seen.url.endsWith('/count_tokens')
        ? script(response, seen)
        : json(200, { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] })(response, seen),
    )
    const testServer = await serverAt(upstream.address, 'messages', {
      timeout: { connect: 10_000, firstByte: 1000, idle: 1000 },
    })
    const counted = await count(testServer)
    expect(counted.estimated).toBe(true)
    expect(counted.tokens).toBeGreaterThan(2)
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
    expect((await testServer.ask('/v1/messages', body, { headers: VERSION })).status).toBe(200)
  })

  test('nobody there: an estimate', async () => {
    const testServer = await serverAt(await deadAddress(), 'messages')
    expect((await count(testServer)).estimated).toBe(true)
  })

  test('a channel that rests is not asked, and the count is there nevertheless', async () => {
    const wait = json(429, error)
    const upstream = await openUpstream((response, seen) => wait(response.setHeader('retry-after', '60'), seen))
    const testServer = await serverAt(upstream.address, 'messages')
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
    expect((await testServer.ask('/v1/messages', body, { headers: VERSION })).status).toBe(429)
    expect((await count(testServer)).estimated).toBe(true)
    expect(upstream.seen.length).toBe(1)
  })

  test('a failing count is not tried at the next channel', async () => {
    const first = await openUpstream(json(500, error))
    const second = await openUpstream(json(200, { input_tokens: 7 }))
    const at = (address: string, name: string, priority: number) =>
      channelAt(address, { format: 'messages', baseUrl: address, name, priority })
    const testServer = await openGateway([at(first.address, 'a', 0), at(second.address, 'b', 1)])
    expect((await count(testServer)).estimated).toBe(true)
    expect([first.seen.length, second.seen.length]).toEqual([1, 0])
  })

  test('a vendor declared without the call is never asked', async () => {
    const upstream = await openUpstream(json(200, { input_tokens: 7 }))
    const fields = { format: 'messages', baseUrl: upstream.address, dialect: { count: false } }
    const testServer = await openGateway([channelAt(upstream.address, fields)])
    expect((await count(testServer)).estimated).toBe(true)
    expect(upstream.seen).toEqual([])
  })

  test('counting is never charged, nor refused for what would be lost', async () => {
    const upstream = await openUpstream(json(200, { input_tokens: 1_000_000 }))
    const channel = channelAt(upstream.address, { format: 'messages' })
    const formats = [{ ...channel.formats[0]!, baseUrl: upstream.address }]
    const testServer = await openGateway([{ ...channel, formats }], { group: { tpm: 10, onLoss: 'refuse' } })
    for (let round = 0; round < 3; round++) expect((await count(testServer)).tokens).toBe(1_000_000)
    const asked = { model: 'm', contents: [{ parts: [{ text: 'a' }] }], generationConfig: { topK: 3, seed: 1 } }
    const { status } = await testServer.ask('/v1beta/models/m:countTokens', { generateContentRequest: asked })
    expect(status).toBe(200)
  })

  test('a caller’s own mistake is still one, and so are a model nobody has and a wrong version', async () => {
    const testServer = await serverAt(await deadAddress(), 'chat')
    const ask = (body: object, headers: { readonly [name: string]: string } = VERSION) =>
      testServer.ask('/v1/messages/count_tokens', body, { headers })
    const messages = [{ role: 'user', content: 'a' }]
    expect((await ask({ model: 'm', messages: 'a' })).status).toBe(400)
    expect((await ask({ model: 'm', prompt: 'a' })).status).toBe(400)
    expect((await ask({ model: 'nobody-has-it', messages })).status).toBe(404)
    expect((await ask({ model: 'm', messages }, { 'anthropic-version': 'latest' })).status).toBe(400)
    expect((await ask({ model: 'm', messages })).status).toBe(200)
  })

  describe('an estimate counts everything', () => {
    const counting = async (body: object): Promise<number> => {
      const testServer = await serverAt('http://127.0.0.1:9', 'chat')
      return (await count(testServer, body)).tokens
    }
    const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })
    const words = 'All the words that are said here count. '.repeat(20)

    test.each<[string, object]>([
      ['the system', { system: words }],
      ['turns', { messages: [...said('a').messages, { role: 'assistant', content: words }, ...said('b').messages] }],
      ['tools with their schemas', { tools: [{ name: 'f', description: words, input_schema: { type: 'object' } }] }],
      ['schemas', { tools: [{ name: 'f', input_schema: { type: 'object', properties: { a: { const: words } } } }] }],
      [
        'calls',
        { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: { words } }] }] },
      ],
      ['results', said([{ type: 'tool_result', tool_use_id: 'a', content: words }])],
      [
        'thoughts',
        { messages: [{ role: 'assistant', content: [{ type: 'thinking', thinking: words, signature: '' }] }] },
      ],
      [
        'documents of text',
        said([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: words } }]),
      ],
      ['blocks nobody knows', said([{ type: 'x_block', words }])],
    ])('%s', async (_, body) => {
      expect(await counting(body)).toBeGreaterThan(150)
    })

    test('pictures by their size, those at an address as if they were large', async () => {
      const picture = (source: object) => counting(said([{ type: 'image', source }]))
      const large = Buffer.from(PNG, 'base64')
      large.writeUInt32BE(1024, 16)
      large.writeUInt32BE(1024, 20)
      const base64 = (data: string) => ({ type: 'base64', media_type: 'image/png', data })
      const small = await picture(base64(PNG))
      expect(small).toBeGreaterThan(80)
      expect(await picture(base64(large.toString('base64')))).toBeGreaterThan(small + 400)
      expect(await picture({ type: 'url', url: 'https://pictures.example/a.png' })).toBeGreaterThan(700)
    })

    test('pages of a PDF', async () => {
      const pdf = Buffer.from(`%PDF-1.7\n${'1 0 obj << /Type /Page >> endobj\n'.repeat(3)}<< /Type /Pages >>`)
      const source = { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') }
      const tokens = await counting(said([{ type: 'document', source }]))
      expect(tokens).toBeGreaterThan(4000)
      expect(tokens).toBeLessThan(6000)
    })

    test('text with marks of models in it, and half of a character', async () => {
      expect(await counting(said('<|endoftext|> <|im_start|> \ud83d'))).toBeLessThan(60)
    })

    test('a text far too long to be counted whole, within seconds', TIMED, async () => {
      const long = 'lorem ipsum '.repeat(500_000)
      const before = performance.now()
      const tokens = await counting(said(long))
      expect(tokens).toBeGreaterThan(950_000)
      expect(tokens).toBeLessThan(1_100_000)
      expect(performance.now() - before).toBeLessThan(5000)
    })
  })
})

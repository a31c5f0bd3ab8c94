import { request } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ServerConfig } from '../../src/config/index.ts'
import { ANSWER, ASK, chunk, events, json, STREAM, TAIL } from '../builders/chat.ts'
import { ALONE, configOf, KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import type { Script } from '../builders/upstream.ts'

const { open: openBefore } = opener()

const PAGE = 'https://app.example'
const script: Script = (response, { text }) =>
  JSON.parse(text).stream === true ? events(response).end(chunk({ content: 'Hello.' }) + TAIL) : json(response, ANSWER)

const open = async (cors: readonly string[], server: Partial<ServerConfig> = {}) => {
  const base = configOf([]).server
  const { testServer } = await openBefore(script, { config: { server: { ...base, ...ALONE, cors, ...server } } })
  return testServer
}

/** Headers of requests that need no preflight (Fetch, "CORS-safelisted request-header"). */
const SAFE = new Set(['accept', 'accept-language', 'content-language'])

/** `fetch` as a browser runs it for a page. Refused unless a preflight allows it and the answer may be read. */
const browserFetch =
  (origin: string): typeof fetch =>
  async (input, init) => {
    const asked = new Request(input, init)
    const names = [...asked.headers.keys()].filter(name => !SAFE.has(name))
    const preflight = await fetch(asked.url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': asked.method,
        'access-control-request-headers': names.sort().join(','),
      },
    })
    const listed = (header: string): string[] => (preflight.headers.get(header) ?? '').toLowerCase().split(/\s*,\s*/)
    const allows = (answer: Response) => ['*', origin].includes(answer.headers.get('access-control-allow-origin') ?? '')
    if (!preflight.ok || !allows(preflight)) throw new TypeError('the preflight was refused')
    if (!listed('access-control-allow-methods').includes(asked.method.toLowerCase()))
      throw new TypeError(`${asked.method} is not allowed`)
    const refused = names.filter(name => !listed('access-control-allow-headers').includes(name))
    if (refused.length > 0) throw new TypeError(`headers are not allowed: ${refused}`)
    const sent = new Request(asked)
    sent.headers.set('origin', origin)
    const answer = await fetch(sent)
    if (!allows(answer)) throw new TypeError('the answer may not be read')
    return answer
  }

const exposed = (answer: Response): string[] => answer.headers.get('access-control-expose-headers')!.split(', ')

describe('pages of listed origins', () => {
  test('call with every SDK', async () => {
    const { server } = await open([PAGE])
    const options = { apiKey: KEY, baseURL: `${server.address}/v1`, fetch: browserFetch(PAGE), maxRetries: 0 }
    const openai = new OpenAI({ ...options, dangerouslyAllowBrowser: true })
    const said = await openai.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    expect(said.choices[0]!.message.content).toBe('Hello.')
    const anthropic = new Anthropic({ ...options, baseURL: server.address, dangerouslyAllowBrowser: true })
    const message = await anthropic.messages.create({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(message.content).toMatchObject([{ text: 'Hello.' }])
    const before = globalThis.fetch
    const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: server.address } })
    const inBrowser = browserFetch(PAGE)
    globalThis.fetch = (input, init) => {
      globalThis.fetch = before
      return inBrowser(input, init)
    }
    const answer = await google.models.generateContent({ model: 'm', contents: 'hi' })
    expect(answer.text).toBe('Hello.')
  })

  test('read streams, and of every answer its ids, limits and losses', async () => {
    const { server } = await open([PAGE])
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const answer = await browserFetch(PAGE)(`${server.address}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(STREAM),
    })
    expect(await answer.text()).toContain('Hello.')
    expect(answer.headers.get('vary')).toBe('origin')
    expect(exposed(answer)).toEqual(
      expect.arrayContaining(['x-request-id', 'request-id', 'retry-after', 'interlingua-loss']),
    )
    expect(exposed(answer)).toEqual(
      expect.arrayContaining(['x-ratelimit-remaining-tokens', 'anthropic-ratelimit-requests-reset']),
    )
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('read errors of every kind', async () => {
    const { server } = await open([PAGE])
    const asked = async (path: string, init: RequestInit = {}) =>
      (await browserFetch(PAGE)(`${server.address}${path}`, init)).status
    expect(await asked('/v1/models')).toBe(401)
    expect(await asked('/v1/nowhere')).toBe(404)
    expect(await asked('/v1/chat/completions', { method: 'POST', body: '{' })).toBe(401)
    expect(await asked('/v1/chat/completions', { method: 'DELETE' })).toBe(405)
    expect(await asked('/v1/videos/x', { headers: { authorization: `Bearer ${KEY}` } })).toBe(404)
  })

  test('are told nothing on the addresses of operators', async () => {
    const { server } = await open(['*'])
    for (const path of ['/admin/v1/keys', '/ADMIN/v1/keys', '/metrics', '/Metrics/'])
      await expect(browserFetch(PAGE)(`${server.address}${path}`)).rejects.toThrow('refused')
  })
})

describe('other origins', () => {
  test('are not allowed, and caches learn that it depends on the origin', async () => {
    const { server } = await open([PAGE])
    await expect(browserFetch('https://evil.example')(`${server.address}/v1/models`)).rejects.toThrow('refused')
    const answer = await fetch(`${server.address}/v1/models`, { headers: { origin: 'null' } })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(answer.headers.get('vary')).toBe('origin')
  })

  test('are all allowed by a star, which is never combined with credentials', async () => {
    const { server } = await open(['*'])
    const answer = await browserFetch('null')(`${server.address}/healthz`)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('are allowed after a reload, and nobody by default', async () => {
    const { server } = await open([])
    await expect(browserFetch(PAGE)(`${server.address}/v1/models`)).rejects.toThrow('refused')
    server.reload(configOf([], { config: { server: { ...configOf([]).server, cors: [PAGE] } } }))
    expect((await browserFetch(PAGE)(`${server.address}/healthz`)).status).toBe(200)
  })
})

test('requests that no browser sends get no header more', async () => {
  const heads = async (cors: readonly string[]) => {
    const testServer = await open(cors)
    const { headers } = await testServer.ask('/v1/chat/completions', ASK)
    return Object.keys(headers).sort()
  }
  expect(await heads([PAGE])).toEqual(await heads([]))
})

describe('sockets', () => {
  /** Returns the status with which a socket of a page is refused; 101 if it is opened. */
  const opened = (address: string, path: string, headers: { [name: string]: string }, protocols: string[] = []) =>
    new Promise<number>(resolve => {
      const socket = new WebSocket(`${address.replace('http', 'ws')}${path}`, protocols, { headers })
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode!))
      socket.on('open', () => {
        socket.close()
        resolve(101)
      })
      socket.on('error', () => {})
    })
  const KEYED = ['realtime', `openai-insecure-api-key.${KEY}`]

  test('of pages are opened for listed origins and those of the gateway', async () => {
    const { server } = await open([PAGE], { publicUrls: ['https://ai.example/gate'] })
    const from = (origin: string) => opened(server.address, '/v1/responses', { origin }, KEYED)
    expect(await from('https://evil.example')).toBe(403)
    expect(await from('null')).toBe(403)
    expect(await from(PAGE)).toBe(101)
    expect(await from('https://ai.example')).toBe(101)
    expect(await opened(server.address, '/v1/realtime?model=m', { origin: 'https://evil.example' }, KEYED)).toBe(403)
  })

  test('of other clients are not asked for an origin', async () => {
    const { server } = await open([PAGE])
    const authorization = `Bearer ${KEY}`
    expect(await opened(server.address, '/v1/responses', { authorization })).toBe(101)
    expect(await opened(server.address, '/v1/responses', { authorization, origin: 'http://127.0.0.1' })).toBe(101)
  })

  test('of pages are opened for any origin where none is configured', async () => {
    const { server } = await open([])
    expect(await opened(server.address, '/v1/responses', { origin: 'https://evil.example' }, KEYED)).toBe(101)
  })
})

test('a preflight repeats only what is a list of names', async () => {
  const { server } = await open([PAGE])
  const answer = await new Promise<import('node:http').IncomingMessage>(resolve =>
    request(`${server.address}/v1/models`, {
      method: 'OPTIONS',
      headers: {
        origin: PAGE,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-stainless-os, "a<b>"',
      },
    })
      .on('response', resolve)
      .end(),
  )
  expect(answer.statusCode).toBe(204)
  expect(answer.headers['access-control-allow-headers']).toBeUndefined()
  answer.resume()
})

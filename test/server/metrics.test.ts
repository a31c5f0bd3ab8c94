import { describe, expect, test } from 'vitest'
import { hashOf } from '../../src/config/hash.ts'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { configOf, KEY, OTHER_KEY } from '../builders/config.ts'
import { GET } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'

const { open: openBefore } = opener()

const open = async (metrics: object) => {
  const { testServer } = await openBefore(response => json(response, ANSWER), { config: { metrics } })
  await testServer.ask('/v1/chat/completions', ASK)
  return testServer
}

const showing = (authorization: string) => ({ ...GET, headers: { authorization } })
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

describe('metrics', () => {
  test('are read with their key, as a bearer or a password', async () => {
    const testServer = await open({ keyHash: hashOf(OTHER_KEY) })
    for (const authorization of [`Bearer ${OTHER_KEY}`, basic('prometheus', OTHER_KEY)]) {
      const { status, headers, text } = await testServer.ask('/metrics', undefined, showing(authorization))
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
      expect(text).toMatch(/interlingua_requests_total\{.*channel="secret-channel".*status="2xx"\} 1\n/)
      expect(text).toContain(
        'interlingua_tokens_total{format="chat",model="m",channel="secret-channel",kind="input"} 5',
      )
      expect(text).toContain('interlingua_channel_in_flight{channel="secret-channel"} 0')
      expect(text).toContain('interlingua_open_requests{state="waiting"} 0')
      expect(text).toMatch(/interlingua_open_sessions 0\n/)
    }
  })

  test('count the requests of keys with captures that were not captured', async () => {
    const testServer = await open({ keyHash: hashOf(OTHER_KEY) })
    const { text } = await testServer.ask('/metrics', undefined, showing(`Bearer ${OTHER_KEY}`))
    expect(text).toContain('interlingua_captures_dropped_total 0\n')
  })

  test('count requests that use no model, too', async () => {
    const testServer = await open({ keyHash: hashOf(OTHER_KEY) })
    await testServer.ask('/v1/models', undefined, GET)
    await testServer.ask('/v1/models/m', undefined, GET)
    await testServer.ask('/v1/models', undefined, showing('Bearer wrong'))
    await testServer.ask('/v1/responses/resp_x', undefined, GET)
    await testServer.ask('/v1/videos/video_x/content', undefined, GET)
    const { text } = await testServer.ask('/metrics', undefined, showing(`Bearer ${OTHER_KEY}`))
    const counted = [...text.matchAll(/^interlingua_queries_total\{(.*)\} (\d+)$/gm)].map(([, labels, n]) => [
      labels,
      n,
    ])
    expect(counted).toEqual([
      ['door="/v1/models",status="2xx"', '2'],
      ['door="/v1/models",status="4xx"', '1'],
      ['door="/v1/responses/{id}",status="4xx"', '1'],
      ['door="/v1/videos/{id}/content",status="4xx"', '1'],
    ])
  })

  test('are refused to everybody else', async () => {
    const testServer = await open({ keyHash: hashOf(OTHER_KEY) })
    for (const authorization of [`Bearer ${KEY}`, 'Bearer ', basic('x', KEY), 'Basic ???', '']) {
      const { status, headers, text } = await testServer.ask('/metrics', undefined, showing(authorization))
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toContain('Basic')
      expect(text).not.toContain('secret-channel')
    }
    expect((await testServer.ask('/metrics', {})).status).toBe(405)
  })

  test('are refused to everybody but administrators without a key of theirs', async () => {
    const testServer = await open({})
    expect((await testServer.ask('/metrics', undefined, GET)).status).toBe(401)
  })

  test('have an address of their own, where nobody is asked for a key', async () => {
    const probe = await openBefore(() => {})
    const port = Number(new URL(probe.upstream.address).port)
    await probe.upstream.close()
    const testServer = await open({ listen: { host: '127.0.0.1', port } })
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('interlingua_requests_total{')
    expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
    expect((await testServer.ask('/metrics', undefined, GET)).status).toBe(401)
  })

  test('are read with another key after a reload', async () => {
    const testServer = await open({ keyHash: hashOf(OTHER_KEY) })
    testServer.server.reload(configOf([], { config: { metrics: { keyHash: hashOf('third') } } }))
    expect((await testServer.ask('/metrics', undefined, showing(`Bearer ${OTHER_KEY}`))).status).toBe(401)
    expect((await testServer.ask('/metrics', undefined, showing('Bearer third'))).status).toBe(200)
  })
})

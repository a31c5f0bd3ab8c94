import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshSecret } from '../../../src/accounts/secret.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ASK } from '../../builders/chat.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { deadAddress } from '../../builders/upstream.ts'

let admin: AdminServer
beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress())])
})
afterAll(() => admin.close())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const kind = (answer: { json: { type: string } }): string => answer.json.type.split(':').at(-1)!

describe('authentication', () => {
  it("takes administrators' tokens only", async () => {
    expect(await admin.ask('GET', '/status', undefined, { authorization: '' })).toMatchObject({ status: 401 })
    expect(kind(await admin.ask('GET', '/status', undefined, bearer('iladm-wrong')))).toBe('unauthenticated')
    expect(kind(await admin.ask('GET', '/status', undefined, bearer(KEY)))).toBe('api-key-refused')
    const elsewhere = { authorization: '', 'x-api-key': admin.token, 'x-goog-api-key': admin.token }
    expect((await admin.ask('GET', `/status?key=${admin.token}`, undefined, elsewhere)).status).toBe(401)
    expect((await admin.get('/status')).status).toBe(200)
  })

  it('challenges as HTTP requires, and says nothing of what is there', async () => {
    for (const path of ['/status', '/nothing', '/keys/%ff', '/openapi.json']) {
      const answer = await admin.ask('GET', path, undefined, { authorization: '' })
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="interlingua admin"'])
    }
  })

  it('refuses an expired token, and a revoked one at once', async () => {
    const { text, secret } = freshSecret('iladm', Date.now())
    await admin.store.access.addToken({ id: 'old', name: 'old', ...secret, expiresAt: Date.now() - 1 })
    expect((await admin.ask('GET', '/status', undefined, bearer(text))).json.detail).toContain('expired')
    const { secret: other, id } = (await admin.post('/tokens', { name: 'brief' })).json
    expect((await admin.ask('GET', '/status', undefined, bearer(other))).status).toBe(200)
    await admin.delete(`/tokens/${id}`)
    expect((await admin.ask('GET', '/status', undefined, bearer(other))).status).toBe(401)
  })

  it('gives an administrator nothing at the endpoints of callers', async () => {
    const { status } = await admin.testServer.ask(CHAT_PATH, ASK, { headers: bearer(admin.token) })
    const models = await admin.testServer.ask('/v1/models', undefined, { method: 'GET', headers: bearer(admin.token) })
    expect([status, models.status]).toEqual([401, 401])
  })
})

describe('what does not work', () => {
  it('is a problem of its own where the store cannot be used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'no-store-'))
    const config = { store: { engine: 'sqlite', path: folder } as const, dataDir: folder }
    const testServer = await TestServer.open([channelAt(await deadAddress())], { config })
    const headers = { authorization: 'Bearer iladm-any' }
    const answer = await testServer.ask('/admin/v1/keys', undefined, { method: 'GET', headers })
    await testServer.server.close(0)
    rmSync(folder, { recursive: true })
    expect([answer.status, kind(answer), answer.headers['retry-after']]).toEqual([503, 'store-unavailable', '2'])
    expect(answer.text).not.toContain(folder)
  })

  it('makes no store for a wrong token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'empty-'))
    const testServer = await TestServer.open([channelAt(await deadAddress())], { keep: folder })
    const headers = { authorization: 'Bearer iladm-any' }
    expect((await testServer.ask('/admin/v1/keys', undefined, { method: 'GET', headers })).status).toBe(401)
    expect(readdirSync(folder).filter(name => name.endsWith('.sqlite'))).toEqual([])
    await testServer.server.close(0)
    rmSync(folder, { recursive: true })
  })

  it('slows an address down that guesses tokens, and nobody with a right one', async () => {
    const guessed = await AdminServer.open([channelAt(await deadAddress())])
    const times: number[] = []
    for (let guess = 0; guess < 7; guess++) {
      const began = performance.now()
      await guessed.ask('GET', '/status', undefined, bearer(`iladm-${guess}`))
      times.push(performance.now() - began)
    }
    const began = performance.now()
    const waiting = guessed.ask('GET', '/status', undefined, bearer('iladm-again'))
    expect((await guessed.get('/status')).status).toBe(200)
    const right = performance.now() - began
    expect([times[5]! >= 99, times[6]! >= 199, right < 400]).toEqual([true, true, true])
    expect((await waiting).status).toBe(401)
    await guessed.close()
  })
})

describe('requests that are wrong', () => {
  it('are refused with what is wrong in each field', async () => {
    const { json } = await admin.post('/keys', { name: '', grup: 'x', rpm: -1, budget: { day: 'much' }, models: [5] })
    expect(json.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/name', detail: 'is empty' },
        { pointer: '/grup', detail: 'unknown; did you mean "group"?' },
        { pointer: '/rpm', detail: 'expected a whole number, 0 or more, found a number' },
        { pointer: '/budget/day', detail: 'expected an amount, 0 or more, found another string' },
        { pointer: '/models/0', detail: 'expected a string, found a number' },
      ]),
    )
    expect(json.errors).toHaveLength(5)
  })

  it('are refused for parameters, too', async () => {
    const wrong = async (query: string) => (await admin.get(query)).json.errors
    expect(await wrong('/keys?limti=5')).toEqual([{ parameter: 'limti', detail: 'unknown; did you mean "limit"?' }])
    expect(await wrong('/keys?limit=0')).toMatchObject([{ parameter: 'limit' }])
    expect(await wrong('/keys?limit=1&limit=2')).toEqual([{ parameter: 'limit', detail: 'is given more than once' }])
    expect(await wrong('/keys?cursor=nonsense!')).toMatchObject([{ parameter: 'cursor' }])
    expect(await wrong('/usage?by=modle')).toMatchObject([{ parameter: 'by' }])
    expect(await wrong('/usage?since=1h&until=2h')).toEqual([{ parameter: 'since', detail: 'is not before until' }])
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(await wrong(`/keys?${name}=1`)).toEqual([{ parameter: name, detail: 'unknown' }])
  })

  it('are refused where the body is no object, no JSON, or too large', async () => {
    for (const body of ['[]', '{', '"text"', ''])
      expect(kind(await admin.ask('POST', '/keys', body))).toBe('invalid-input')
    const large = JSON.stringify({ name: 'x'.repeat(1_100_000) })
    expect(kind(await admin.ask('POST', '/keys', large))).toBe('too-large')
    expect(kind(await admin.post('/keys', { name: 'a\u0000b' }))).toBe('invalid-input')
    expect(kind(await admin.post('/keys', JSON.parse('{"name":"a","__proto__":{}}')))).toBe('invalid-input')
  })

  it('are refused where nothing is, or not with this method', async () => {
    expect(kind(await admin.get('/nothing'))).toBe('not-found')
    expect(kind(await admin.get('/keys/<script>alert(1)</script>'))).toBe('not-found')
    expect((await admin.get('/keys/%3Cscript%3E')).text).not.toContain('<script>')
    expect(kind(await admin.get('/keys/%ff'))).toBe('invalid-input')
    const answer = await admin.delete('/keys')
    expect([kind(answer), answer.headers['allow']]).toEqual(['method-not-allowed', 'GET, HEAD, OPTIONS, POST'])
  })

  it('may ask what there is', async () => {
    const { status, headers } = await admin.testServer.ask('/admin/v1/keys', undefined, {
      method: 'OPTIONS',
      headers: bearer(admin.token),
    })
    expect([status, headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS, POST'])
    const head = await admin.testServer.ask('/admin/v1/keys', undefined, {
      method: 'HEAD',
      headers: bearer(admin.token),
    })
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await admin.testServer.ask('/admin', undefined, { headers: { authorization: '' } })).status).toBe(401)
  })
})

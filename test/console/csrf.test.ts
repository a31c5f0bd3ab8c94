import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/operators/admin/index.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { addUser, PASSWORD, SignedIn, signInAs } from '../builders/console.ts'

const closing = closingAfterEach()

async function open(fields = {}) {
  const admin = await AdminServer.open([], { server: { ...configOf([]).server, ...fields } })
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  return admin
}

const kindOf = ({ status, json }: { status: number; json: { type?: string } }) =>
  `${status} ${json?.type?.split(':').at(-1) ?? ''}`

/** A path that matches an endpoint. */
const pathOf = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x')

describe('CSRF: a page of another origin', () => {
  it('without the token changes nothing at any endpoint, whatever its method', async () => {
    const { testServer, store } = await open()
    const ada = await SignedIn.at(testServer, 'ada')
    for (const { method, path } of ENDPOINTS.filter(({ method }) => method !== 'get')) {
      const { status, json } = await ada.ask(method.toUpperCase(), pathOf(path), {}, { 'x-csrf-token': '' })
      expect(`${method} ${path}: ${kindOf({ status, json })}`).toBe(`${method} ${path}: 403 csrf`)
    }
    expect(kindOf(await ada.ask('DELETE', '/session', undefined, { 'x-csrf-token': '' }))).toBe('403 csrf')
    expect(kindOf(await ada.ask('DELETE', '/session?everywhere', undefined, { 'x-csrf-token': '' }))).toBe('403 csrf')
    const change = { current: PASSWORD, password: 'a password of the attacker' }
    expect(kindOf(await ada.ask('PUT', '/session/password', change, { 'x-csrf-token': '' }))).toBe('403 csrf')
    expect((await ada.ask('GET', '/status', undefined, { 'x-csrf-token': '' })).status).toBe(200)
    expect(await store.access.groups()).toEqual([])
  })

  it('with a wrong token, or that of another session, changes nothing', async () => {
    const { testServer } = await open()
    const [ada, other] = [await SignedIn.at(testServer, 'ada'), await SignedIn.at(testServer, 'ada')]
    for (const token of ['x', other.csrf, ada.csrf.slice(0, -1), `${ada.csrf} `.repeat(2), 'ü'.repeat(43)])
      expect(kindOf(await ada.ask('POST', '/groups', { name: 'a' }, { 'x-csrf-token': encodeURI(token) }))).toBe(
        '403 csrf',
      )
    expect((await ada.ask('POST', '/groups', { name: 'a' })).status).toBe(201)
  })

  it('changes nothing with a right token either, as browsers state where a request is from', async () => {
    const { testServer } = await open()
    const ada = await SignedIn.at(testServer, 'ada')
    for (const site of ['cross-site', 'same-site', 'rubbish'])
      expect(kindOf(await ada.ask('POST', '/groups', { name: 'a' }, { 'sec-fetch-site': site }))).toBe('403 csrf')
  })

  it('posts a form as text/plain, and signs nobody in', async () => {
    const { testServer } = await open()
    const plain = { authorization: '', 'content-type': 'text/plain' }
    const body = JSON.stringify({ name: 'ada', password: PASSWORD, padding: '=' })
    const form = await testServer.ask('/admin/v1/session', body, { headers: plain })
    expect([kindOf(form), form.headers['set-cookie']]).toEqual(['400 invalid-input', undefined])
    const urlencoded = { authorization: '', 'content-type': 'application/x-www-form-urlencoded' }
    expect(
      (await testServer.ask('/admin/v1/session', `name=ada&password=${PASSWORD}`, { headers: urlencoded })).status,
    ).toBe(400)
    const ada = await SignedIn.at(testServer, 'ada')
    const posted = await ada.ask('POST', '/groups', '{"name":"a"}', {
      'x-csrf-token': '',
      'content-type': 'text/plain',
    })
    expect(kindOf(posted)).toBe('403 csrf')
  })

  it('cannot sign its victim in as another: by fetch metadata, and by origin where a browser sends none', async () => {
    const { testServer } = await open({ publicUrls: ['https://console.example.org'] })
    const from = async (headers: { [name: string]: string }) =>
      kindOf(await signInAs(testServer, 'ada', PASSWORD, { 'sec-fetch-site': 'none', ...headers }))
    expect(await from({ 'sec-fetch-site': 'cross-site' })).toBe('403 csrf')
    expect(await from({ 'sec-fetch-site': 'same-site' })).toBe('403 csrf')
    expect(await from({ origin: 'https://evil.example' })).toBe('403 csrf')
    expect(await from({ origin: 'null' })).toBe('403 csrf')
    const { host } = new URL(testServer.server.address)
    expect(await from({ origin: `http://${host}.evil.example` })).toBe('403 csrf')
    expect(await from({ origin: `http://${host}` })).toBe('200 ')
    expect(await from({ origin: 'https://console.example.org' })).toBe('200 ')
  })
})

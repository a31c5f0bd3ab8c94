import { expect, it } from 'vitest'
import { roleFor } from '../../src/operators/admin/endpoint.ts'
import { ENDPOINTS } from '../../src/operators/admin/index.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { addUser, SignedIn } from '../builders/console.ts'

const closing = closingAfterEach()

async function open() {
  const admin = await AdminServer.open([])
  closing.push(() => admin.close())
  await addUser(admin.store, 'ada')
  await addUser(admin.store, 'vic', { role: 'viewer' })
  return admin
}

const row = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`

it('a viewer may do nothing that is not declared for viewers, at any endpoint', async () => {
  const { testServer, store } = await open()
  const vic = await SignedIn.at(testServer, 'vic')
  const refused: string[] = []
  for (const endpoint of ENDPOINTS.filter(one => roleFor(one) === 'admin')) {
    const path = endpoint.path.replaceAll(/\{\w+\}/g, 'vic')
    const { status, json } = await vic.ask(endpoint.method.toUpperCase(), path, endpoint.body && { name: 'x' })
    if (status === 403 && json.type.endsWith(':role-too-low')) refused.push(row(endpoint))
  }
  expect(refused).toEqual(ENDPOINTS.filter(one => roleFor(one) === 'admin').map(row))
  expect([await store.access.groups(), (await store.access.tokens()).length]).toEqual([[], 1])
  expect((await store.console.user('vic'))!.role).toBe('viewer')
})

it('what viewers may do changes nothing: those endpoints that are not read are named here', () => {
  const declared = ENDPOINTS.filter(({ method, role }) => method !== 'get' && role === 'viewer').map(row)
  expect(declared.filter(one => !['post /translate', 'post /translate/redacted'].includes(one))).toEqual([])
  const shown = ENDPOINTS.filter(one => roleFor(one) === 'viewer').map(row)
  expect(shown).toContain('get /keys')
  for (const hidden of ['get /users', 'get /users/{name}']) expect(shown).not.toContain(hidden)
})

it('a viewer sees what there is, and changes the own password', async () => {
  const { testServer } = await open()
  const vic = await SignedIn.at(testServer, 'vic')
  for (const path of ['/status', '/keys', '/groups', '/channels', '/models', '/usage', '/requests', '/openapi.json'])
    expect([path, (await vic.ask('GET', path)).status]).toEqual([path, 200])
  const change = { current: 'correct horse battery', password: 'wholly different now' }
  expect((await vic.ask('PUT', '/session/password', change)).status).toBe(204)
})

it('a role that changes counts with the next request', async () => {
  const { testServer } = await open()
  const [ada, vic] = [await SignedIn.at(testServer, 'ada'), await SignedIn.at(testServer, 'vic')]
  expect((await ada.ask('PATCH', '/users/vic', { role: 'admin' })).status).toBe(200)
  expect((await vic.ask('POST', '/groups', { name: 'team' })).status).toBe(201)
  expect((await vic.ask('PATCH', '/users/ada', { role: 'viewer' })).status).toBe(200)
  expect((await ada.ask('DELETE', '/groups/team')).status).toBe(403)
})

it('somebody can always administer: the last enabled admin is kept', async () => {
  const { testServer } = await open()
  const ada = await SignedIn.at(testServer, 'ada')
  const kinds = []
  for (const change of [{ role: 'viewer' }, { enabled: false }])
    kinds.push((await ada.ask('PATCH', '/users/ada', change)).json.type)
  kinds.push((await ada.ask('DELETE', '/users/ada')).json.type)
  expect(kinds).toEqual(Array(3).fill('urn:interlingua:problem:last-admin'))
  await ada.ask('PATCH', '/users/vic', { role: 'admin' })
  // If two admins remove each other at the same time, one of them stays.
  const vic = await SignedIn.at(testServer, 'vic')
  const both = await Promise.all([ada.ask('DELETE', '/users/vic'), vic.ask('DELETE', '/users/ada')])
  expect(both.filter(({ status }) => status === 204)).toHaveLength(1)
})

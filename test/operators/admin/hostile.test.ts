import { afterAll, beforeAll, expect, it } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { deadAddress } from '../../builders/upstream.ts'

/* Requests of ordinary users at the administrators' endpoints. */

let admin: AdminServer
beforeAll(async () => {
  admin = await AdminServer.open([channelAt(await deadAddress())])
})
afterAll(() => admin.close())

const DEEP = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
const BODIES = [
  ...['', '{', 'null', '[]', '{}', '"x"', '1e999', '\ufeff{}', DEEP, '{"__proto__":{"role":"admin"}}'],
  ...['{"name":{}}', '{"name":"a","name":"b"}', '{"user":[],"password":1}', '{"user":"a","password":"\\u0000"}'],
]
const TYPES = ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/json; charset=utf-16']

/** Returns each method of each endpoint in the description. */
async function operations(): Promise<readonly (readonly [method: string, path: string])[]> {
  const headers = { authorization: `Bearer ${admin.token}` }
  const { json } = await admin.testServer.ask('/admin/v1/openapi.json', undefined, { method: 'GET', headers })
  return Object.entries(json.paths as object).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => [method.toUpperCase(), path.replace(/\{\w+\}/g, '__proto__')] as const),
  )
}

it('a key of a caller opens none of the endpoints, whatever is sent', async () => {
  for (const [method, path] of await operations()) {
    if (path === '/session' && method === 'POST') continue
    const bodies = method === 'GET' ? [undefined] : BODIES
    for (const body of bodies) {
      const answer = await admin.testServer.ask(`/admin/v1${path}`, body, {
        ...{ method, headers: { authorization: `Bearer ${KEY}`, cookie: `interlingua-session=${KEY}` } },
      })
      expect(answer.status, `${method} ${path} ${body}: ${answer.text}`).toBe(403)
    }
  }
  expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
})

it('whoever signs in with rubbish is refused', async () => {
  for (const body of BODIES)
    for (const type of TYPES) {
      const answer = await admin.testServer.ask('/admin/v1/session', body, {
        ...{ method: 'POST', headers: { authorization: `Bearer ${KEY}`, 'content-type': type } },
      })
      expect(answer.status, `${type} ${body}: ${answer.text}`).toBeGreaterThanOrEqual(400)
      expect(answer.status, `${type} ${body}: ${answer.text}`).toBeLessThan(500)
    }
  expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
})

it('rubbish of an administrator is refused with its fields, and never a fault of the gateway', async () => {
  for (const [method, path] of await operations()) {
    if (path.includes('try') || path.endsWith('/test') || method === 'GET' || path === '/session') continue
    for (const body of BODIES) {
      const answer = await admin.testServer.ask(`/admin/v1${path}`, body, {
        ...{ method, headers: { authorization: `Bearer ${admin.token}` } },
      })
      expect(answer.status, `${method} ${path} ${body}: ${answer.text}`).toBeLessThan(500)
    }
  }
  expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
})

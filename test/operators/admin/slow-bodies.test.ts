import { describe, expect, test } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { addUser, SignedIn } from '../../builders/console.ts'
import { pause, TIMED } from '../../builders/time.ts'

/*
 * A request that began before its sender lost the permission changes nothing afterwards, however slowly its body comes.
 */

const closing = closingAfterEach()
let admin: AdminServer

async function open(): Promise<AdminServer> {
  admin = await AdminServer.open([])
  closing.push(() => admin.close())
  return admin
}

const BODY = JSON.stringify({ name: 'late' })

/** Sends the rest of a request after a change, and returns the status of its answer. */
async function statusAfter(headers: { readonly [name: string]: string }, change: () => Promise<unknown>) {
  const sent = admin.testServer.send('/admin/v1/keys', BODY.slice(0, 5), {
    headers: { 'content-type': 'application/json', 'content-length': String(BODY.length), ...headers },
  })
  await pause(1200)
  await change()
  sent.out.socket!.write(BODY.slice(5))
  const { statusCode } = await sent.answer
  const names = (await admin.get('/keys')).json.data.map(({ name }: { name: string }) => name)
  expect(names).not.toContain('late')
  return statusCode
}

describe('the rest of a request is refused', TIMED, () => {
  test('after its token was deleted', async () => {
    await open()
    const { id, secret } = (await admin.post('/tokens', { name: 'short' })).json
    const headers = { authorization: `Bearer ${secret}` }
    expect(await statusAfter(headers, () => admin.delete(`/tokens/${id}`))).toBe(401)
  })

  test.each<[string, number, (admin: AdminServer, ada: SignedIn) => Promise<unknown>]>([
    ['became a viewer', 403, admin => admin.patch('/users/ada', { role: 'viewer' })],
    ['was disabled', 401, admin => admin.patch('/users/ada', { enabled: false })],
    ['was deleted', 401, admin => admin.delete('/users/ada')],
    ['signed out', 401, (_, ada) => ada.ask('DELETE', '/session')],
  ])('after its user %s', async (_, status, change) => {
    const { store, testServer } = await open()
    for (const name of ['ada', 'bob']) await addUser(store, name)
    const ada = await SignedIn.at(testServer, 'ada')
    const session = { cookie: ada.cookie, 'x-csrf-token': ada.csrf, 'sec-fetch-site': 'same-origin' }
    expect(await statusAfter({ authorization: '', ...session }, () => change(admin, ada))).toBe(status)
  })
})

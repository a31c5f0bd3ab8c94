import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { AdminServer } from '../../builders/admin.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt } from '../../builders/config.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import { DAY } from '../../builders/units.ts'
import { deadAddress } from '../../builders/upstream.ts'

/* Changes that arrive cut, twice, in another order, over slow connections, and at wrong times. */

const closing = closingAfterEach()
afterEach(() => vi.restoreAllMocks())

async function open(): Promise<AdminServer> {
  const admin = await AdminServer.open([channelAt(await deadAddress())], { usage: { retention: DAY } })
  closing.push(() => admin.close())
  return admin
}

/** Sends bytes to the admin API and returns what comes back until the connection ends. */
async function raw(
  admin: AdminServer,
  head: string,
  body: string,
  after?: (socket: ReturnType<typeof connect>) => void,
): Promise<string> {
  const socket = connect(Number(new URL(admin.testServer.server.address).port), '127.0.0.1')
  let text = ''
  socket.on('error', () => {}).on('data', chunk => (text += chunk))
  socket.write(`${head}\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\nconnection: close\r\n`)
  socket.write(`content-type: application/json\r\n${body}`)
  after?.(socket)
  const closed = new Promise(resolve => socket.once('close', resolve))
  // An answer that refuses a body may come long before the connection ends.
  const refused = until(() => /^HTTP\/1\.1 413[\s\S]*\}/.test(text), 3000).catch(() => closed)
  await Promise.race([closed, refused])
  socket.destroy()
  return text
}

describe('a change that is cut', () => {
  const BODY = JSON.stringify({ name: 'cut', group: 'default', note: 'a note' })

  test('at any byte of its body changes nothing', async () => {
    const admin = await open()
    for (let end = 0; end < BODY.length; end += 3) {
      const answer = await admin.post('/keys', BODY.slice(0, end))
      expect(answer.status, BODY.slice(0, end)).toBeGreaterThanOrEqual(400)
    }
    for (const end of [0, 1, 20, BODY.length - 1, BODY.length]) {
      // The length promises more than is sent.
      await raw(
        admin,
        'POST /admin/v1/keys HTTP/1.1',
        `content-length: ${BODY.length + 10}\r\n\r\n${BODY.slice(0, end)}`,
        socket => setTimeout(() => socket.resetAndDestroy(), 20),
      )
      await raw(
        admin,
        'POST /admin/v1/keys HTTP/1.1',
        `transfer-encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY.slice(0, end)}`,
        socket => setTimeout(() => socket.end(), 20),
      )
    }
    expect((await admin.get('/keys?name=cut')).json.data).toEqual([])
    expect((await admin.get('/audit')).json.data).toEqual([])
    expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test.each([0, 1, 5, 20])('%i ms behind its body is made once, by it or when it is sent again', async delay => {
    const admin = await open()
    await raw(admin, 'POST /admin/v1/keys HTTP/1.1', `content-length: ${BODY.length}\r\n\r\n${BODY}`, socket =>
      setTimeout(() => socket.resetAndDestroy(), delay),
    )
    expect([201, 409]).toContain((await admin.post('/keys', BODY)).status)
    expect((await admin.post('/keys', BODY)).status).toBe(409)
    expect((await admin.get('/keys?name=cut')).json.data).toHaveLength(1)
    await vi.waitFor(async () => expect((await admin.get('/audit')).json.data).toHaveLength(1))
  })
})

describe('changes in another order', () => {
  test('never bring back a key, a group or a token that is gone', async () => {
    const admin = await open()
    const { json: key } = await admin.post('/keys', { name: 'k' })
    const results = await Promise.all([
      ...[
        admin.delete(`/keys/${key.id}`),
        admin.delete(`/keys/${key.id}`),
        admin.patch(`/keys/${key.id}`, { enabled: true }),
      ],
      admin.post(`/keys/${key.id}/rotate`),
    ])
    expect(
      results
        .slice(0, 2)
        .map(({ status }) => status)
        .sort(),
    ).toEqual([204, 404])
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
    ] as const)
      expect((await admin.ask(method, `/keys/${key.id}${path}`, method === 'DELETE' ? undefined : {})).status).toBe(404)
    const secrets = [key.secret, ...results.flatMap(({ json }) => json?.secret ?? [])]
    for (const secret of secrets)
      expect(
        (
          await admin.testServer.ask('/v1/models', undefined, {
            method: 'GET',
            headers: { authorization: `Bearer ${secret}` },
          })
        ).status,
      ).toBe(401)
    expect((await admin.patch('/groups/never', { rpm: 1 })).status).toBe(404)
    expect((await admin.post('/keys', { name: 'x', group: 'never' })).status).toBe(400)
    await admin.put('/groups/g', {})
    await admin.post('/keys', { name: 'in-g', group: 'g' })
    expect((await admin.delete('/groups/g')).status).toBe(409)
  })

  test('a group is deleted and given a key at the same moment: no key is left without a group', async () => {
    const admin = await open()
    for (let round = 0; round < 12; round++) {
      await admin.put('/groups/g', {})
      const [made, dropped] = await Promise.all([
        admin.post('/keys', { name: `k${round}`, group: 'g' }),
        admin.delete('/groups/g'),
      ])
      const groups = (await admin.get('/groups')).json.data.map(({ name }: { name: string }) => name)
      if (made.status === 201 && dropped.status === 204) expect(groups).toContain('g')
      if (made.status === 201) await admin.delete(`/keys/${made.json.id}`)
    }
  })

  test('cursors of another list, another page or another time are refused or go on', async () => {
    const admin = await open()
    for (const name of ['a', 'b', 'c']) await admin.post('/keys', { name })
    const { json } = await admin.get('/keys?limit=2')
    for (const path of ['/requests', '/audit', '/models'])
      expect((await admin.get(`${path}?cursor=${json.next_cursor}`)).status).toBeLessThan(500)
    for (const cursor of [
      'x',
      '',
      'store:',
      Buffer.from('store:../..').toString('base64url'),
      `${json.next_cursor}=`,
      'A'.repeat(10_000),
    ])
      expect((await admin.get(`/keys?cursor=${encodeURIComponent(cursor)}`)).status, cursor.slice(0, 20)).toBe(400)
    const gone = Buffer.from(`store:${'0'.repeat(32)}:b`).toString('base64url')
    const rest = (await admin.get(`/keys?cursor=${gone}`)).json.data
    expect(rest.map(({ name }: { name: string }) => name)).toEqual(['b', 'c'])
  })

  test('a script that renames and revokes the keys of each page sees every key once', async () => {
    const admin = await open()
    const names = Array.from({ length: 25 }, (_, at) => `${String.fromCodePoint(97 + at)}:${'😀'.repeat(at * 4)}`)
    for (const name of names) await admin.post('/keys', { name })
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { json } = await admin.get(`/keys?limit=4${cursor}`)
      for (const [at, { id, name, source }] of json.data.entries()) {
        if (source === 'config') continue
        seen.push(name)
        if (at % 2 === 0) await admin.delete(`/keys/${id}`)
        else await admin.patch(`/keys/${id}`, { name: `A${name}`.slice(0, 40) })
      }
      if (json.next_cursor === undefined) break
      cursor = `&cursor=${json.next_cursor}`
    }
    expect(seen).toEqual(names)
  })
})

describe('wrong times', () => {
  const TIMES = [
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    '+275760-09-13T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '1e9',
    'NaN',
    '',
    'now',
  ]

  test.each(TIMES)('%j is refused or kept, and every list is still read', async time => {
    const admin = await open()
    const made = await admin.post('/keys', { name: 'k', expires_at: time })
    expect([201, 400]).toContain(made.status)
    const token = await admin.post('/tokens', { name: 't', expires_at: time })
    expect(token.status).toBeLessThan(500)
    for (const path of [
      '/keys',
      '/tokens',
      '/overview',
      `/usage?since=${time}`,
      `/requests?since=${time}&until=${time}`,
      `/audit?until=${time}`,
    ])
      expect((await admin.get(path)).status, path).toBeLessThan(500)
    expect(admin.testServer.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a clock that is set forth and back ends and revives no key for good, and orders no change wrongly', async () => {
    const real = Date.now
    let difference = 0
    vi.spyOn(Date, 'now').mockImplementation(() => real() + difference)
    const admin = await open()
    const { json: key } = await admin.post('/keys', {
      ...{ name: 'k', expires_at: new Date(real() + DAY).toISOString() },
    })
    const headers = { authorization: `Bearer ${key.secret}` }
    const status = async () => (await admin.testServer.ask('/v1/models', undefined, { method: 'GET', headers })).status
    expect(await status()).toBe(200)
    difference = 2 * DAY
    expect(await status()).toBe(401)
    await admin.patch(`/keys/${key.id}`, { note: 'of the future' })
    difference = -400 * DAY
    expect(await status()).toBe(200)
    await admin.patch(`/keys/${key.id}`, { note: 'of the past' })
    await admin.delete(`/keys/${key.id}`)
    expect(await status()).toBe(401)
    difference = 0
    expect(await status()).toBe(401)
    const revoked = (await admin.get('/keys?revoked')).json.data
    expect(revoked.find(({ id }: { id: string }) => id === key.id)).toMatchObject({ note: 'of the past' })
    expect((await admin.get('/audit')).json.data.length).toBeGreaterThan(0)
  })
})

describe('slow and greedy connections', () => {
  test('that never send their body hold up nobody, and are ended', TIMED, async () => {
    const admin = await open()
    const port = Number(new URL(admin.testServer.server.address).port)
    const held = Array.from({ length: 100 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(
        `POST /admin/v1/keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{"name":"`,
      )
      closing.push(() => socket.destroy())
      return socket
    })
    await pause(50)
    const start = performance.now()
    expect((await admin.post('/keys', { name: 'quick' })).status).toBe(201)
    expect(performance.now() - start).toBeLessThan(500)
    for (const socket of held) socket.destroy()
    expect((await admin.get('/keys')).json.data.map(({ name }: { name: string }) => name)).toContain('quick')
  })

  test('that send more than a body may have are refused before they have sent it', async () => {
    const admin = await open()
    const text = await raw(admin, 'POST /admin/v1/keys HTTP/1.1', `content-length: ${2 ** 40}\r\n\r\n{`)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    const chunked = await raw(admin, 'POST /admin/v1/keys HTTP/1.1', 'transfer-encoding: chunked\r\n\r\n', socket => {
      const more = () => {
        while (socket.writable && socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`));
      }
      socket.on('drain', more)
      more()
    })
    expect(chunked).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('that send two requests in one, or a body where there is none, are answered one by one', async () => {
    const admin = await open()
    const text = await raw(
      admin,
      'GET /admin/v1/status HTTP/1.1',
      `content-length: 45\r\n\r\nDELETE /admin/v1/tokens/x HTTP/1.1\r\nhost: x\r\n\r\n`,
    )
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
    const smuggled = await raw(
      admin,
      'POST /admin/v1/keys HTTP/1.1',
      'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /admin/v1/keys HTTP/1.1\r\n\r\n',
    )
    expect(smuggled).toMatch(/^HTTP\/1\.1 400 /)
    expect(smuggled.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
  })

  test('that read nothing of a live stream cost no memory, and no more than ten are open', TIMED, async () => {
    const admin = await open()
    const port = Number(new URL(admin.testServer.server.address).port)
    const sockets = Array.from({ length: 14 }, () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.write(`GET /admin/v1/requests/live HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\n\r\n`)
      closing.push(() => socket.destroy())
      return socket
    })
    const heads = await Promise.all(
      sockets.map(
        socket =>
          new Promise<string>(resolve =>
            socket.once('data', chunk => {
              socket.pause()
              resolve(String(chunk))
            }),
          ),
      ),
    )
    expect(heads.filter(head => head.startsWith('HTTP/1.1 200'))).toHaveLength(10)
    expect(heads.filter(head => head.startsWith('HTTP/1.1 429'))).toHaveLength(4)
    for (let round = 0; round < 100; round++)
      await admin.testServer.ask('/v1/chat/completions', {
        model: `nobody-${'x'.repeat(20_000)}-${round}`,
        messages: [],
      })
    for (const socket of sockets) socket.destroy()
    await pause(50)
    const again = connect(port, '127.0.0.1').on('error', () => {})
    closing.push(() => again.destroy())
    again.write(`GET /admin/v1/requests/live HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\n\r\n`)
    expect(String(await new Promise(resolve => again.once('data', resolve)))).toMatch(/^HTTP\/1\.1 200/)
  })
})

import { randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf } from '../builders/http.ts'
import { CELLS, type Cell, UPGRADE } from './endpoints.ts'
import { type PrincipalName, RULES, type Verdict } from './rules.ts'
import { WORDS, World } from './world.ts'

/* Every endpoint for every kind of sender. `rules.ts` has what each sender may reach. */

let world: World
beforeAll(async () => {
  world = await World.open()
})
afterAll(() => world.close())

const STATUS_OF: { readonly [V in Exclude<Verdict, 'served'>]: number } = { unknown: 401, refused: 403, hidden: 404 }

/** Returns the status of an answer, and its text if it is a refusal. Streams of an admitted sender may have no end. */
async function ask(cell: Cell, path: string, principal: PrincipalName) {
  const { method, format, body = { nonsense: true } } = cell
  const headers = await world.headers(principal, format)
  const opens = method === UPGRADE
  const { out, answer } = world.server.send(path, WITH_BODY.has(method) ? body : undefined, {
    ...{ method: opens ? 'GET' : method, headers: { ...headers, ...(opens ? HANDSHAKE : {}) } },
  })
  const received = await Promise.race([answer, opened(out)])
  const status = received.statusCode!
  const text = status < 400 ? '' : await textOf(received)
  out.destroy()
  return { status, text }
}

const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const HANDSHAKE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  'sec-websocket-key': randomBytes(16).toString('base64'),
}

/** Returns the answer that opened a WebSocket. */
const opened = (out: ClientRequest): Promise<IncomingMessage> =>
  new Promise(resolve =>
    out.once('upgrade', (message, socket) => {
      socket.destroy()
      resolve(message)
    }),
  )

test.each(CELLS.map(cell => [`${cell.method} ${cell.pattern}`, cell] as const))('%s', async (_, cell) => {
  const path = await world.pathTo(cell.pattern)
  for (const [principal, verdict] of Object.entries(RULES[cell.access]) as [PrincipalName, Verdict][]) {
    const { status, text } = await ask(cell, path, principal)
    const shown = `${principal}: ${text}`
    if (verdict === 'served') {
      expect(status, shown).not.toBe(401)
      expect(status, shown).not.toBe(403)
      if (cell.access === 'object') expect(status, shown).not.toBe(404)
    } else {
      expect(status, shown).toBe(STATUS_OF[verdict])
      expect(text).not.toContain(WORDS)
    }
  }
})

test('nobody but the owner finds its objects in lists', async () => {
  const id = (await world.pathTo('/v1/videos/:id')).split('/').at(-1)!
  for (const principal of ['owner', 'key-of-other-group'] as const) {
    const headers = await world.headers(principal)
    const { status, text } = await world.server.ask('/v1/videos', undefined, { method: 'GET', headers })
    expect(status).toBe(200)
    expect(text.includes(id)).toBe(principal === 'owner')
  }
})

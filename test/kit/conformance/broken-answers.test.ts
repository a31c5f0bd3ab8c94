import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* What a gateway that reads whole answers does if its upstream's connection breaks off. */

let upstream: Upstream
let server: Server
let interrupted: (reply: ServerResponse) => void

beforeAll(async () => {
  upstream = await Upstream.open()
  server = createServer(async (message, reply) => {
    try {
      const body = await new Response(Buffer.concat(await message.toArray())).text()
      const headers = { authorization: 'Bearer key', 'content-type': 'application/json' }
      const got = await fetch(upstream.root + message.url, { method: 'POST', headers, body })
      const text = await got.text()
      reply.writeHead(got.status, { 'content-type': got.headers.get('content-type')! }).end(text)
    } catch {
      interrupted(reply)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await upstream.close()
})

const failed = async (): Promise<readonly string[]> => {
  const bases = { chat: `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat/v1` }
  const target = { name: 'whole', bases, key: 'k', model: () => 'kit-chat', translates: true }
  const selection = { scenarios: [readScenario('broken-answer')], callers: ['chat'], upstreams: ['chat'] }
  const results = await run({ target, upstream, ...selection, only: '*/whole' })
  expect(results.length).toBe(1)
  return results.flatMap(({ checks }) => checks.flatMap(({ rule, status }) => (status === 'fail' ? [rule] : [])))
}

test('it may close the connection, before or after the head', async () => {
  interrupted = reply => reply.destroy()
  expect(await failed()).toEqual([])
  interrupted = reply => {
    reply.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
    reply.write('{', () => reply.destroy())
  }
  expect(await failed()).toEqual([])
})

test('it may not answer with nothing', async () => {
  interrupted = reply => reply.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  expect(await failed()).toContain('answer.broken.told')
})

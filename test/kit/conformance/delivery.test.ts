import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CheckList } from '../../../src/kit/conformance/check-list.ts'
import { judgeKeys } from '../../../src/kit/conformance/judge-delivery.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* How often, and with which model, a request reaches the upstream. */

let upstream: Upstream
let server: Server

/** A gateway that sends every request twice, with a model of its own. */
beforeAll(async () => {
  upstream = await Upstream.open()
  server = createServer(async (message, reply) => {
    const body = Buffer.concat(await message.toArray())
    const headers = { authorization: 'Bearer key', 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: body.toString().replace('kit-chat', 'my-model') }
    await (await fetch(upstream.root + message.url, request)).text()
    const got = await fetch(upstream.root + message.url, request)
    reply.writeHead(got.status, { 'content-type': got.headers.get('content-type')! }).end(await got.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await upstream.close()
})

async function brokenIn(scenario: string, caller = 'chat'): Promise<readonly string[]> {
  const bases = { [caller]: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${caller}/v1` }
  const target = { name: 'twice', bases, key: 'k', model: () => 'kit-chat', translates: true }
  const selection = { scenarios: [readScenario(scenario)], callers: [caller], upstreams: [caller], only: '*/whole' }
  const [result] = await run({ target, upstream, ...selection })
  return result!.checks.flatMap(({ rule, status }) => (status === 'pass' ? [] : `${rule} ${status}`))
}

describe('the key of the caller', () => {
  const keys = { caller: 'kit-1', upstream: 'up-kit-1' }
  const faultsOf = (request: { headers?: { [name: string]: string }; path?: string; body?: string }) => {
    const list = new CheckList({ id: 'a', scenario: { id: 'b' } })
    judgeKeys({ headers: {}, path: '/chat/completions', ...request }, keys, list)
    return list.checks.flatMap(({ details = [] }) => details)
  }
  const own = { authorization: 'Bearer up-kit-1' }

  test('stays with the gateway, whose upstream gets its own', () => {
    expect(faultsOf({ headers: own })).toEqual([])
    expect(faultsOf({ headers: { 'x-api-key': 'other' } })).toEqual(['The request has no configured credential.'])
  })

  test.each([
    ['in a header', { headers: { ...own, 'x-forwarded-authorization': 'Bearer kit-1' } }],
    ['in the path', { headers: own, path: '/chat/completions?key=kit-1' }],
    ['in the body', { headers: own, body: '{"user":"kit-1"}' }],
  ])('may not reach the upstream %s', (_, request) =>
    expect(faultsOf(request)).toEqual(['The upstream got the key of the caller.']),
  )

  test('is not judged if the target has no key of its own', () => {
    const list = new CheckList({ id: 'a', scenario: { id: 'b' } })
    judgeKeys({ headers: { authorization: 'Bearer kit-1' }, path: '/' }, undefined, list)
    expect(list.checks).toEqual([])
  })
})

describe('a gateway that sends every request twice', () => {
  test('fails, because its caller pays twice, and is told of its model', async () =>
    expect(await brokenIn('text')).toEqual([
      'request.once advice',
      'request.known-model advice',
      'request.repeated fail',
    ]))

  test.each([
    ['images', 'images'],
    ['embeddings', 'embeddings-text'],
    ['speech', 'speech'],
  ])('fails in %s, too', async (caller, scenario) =>
    expect(await brokenIn(scenario, caller)).toContain('request.repeated fail'),
  )

  test('may do so to get several candidates, or because the upstream failed', async () => {
    expect(await brokenIn('candidates')).not.toContain('request.repeated fail')
    expect(await brokenIn('error-500')).not.toContain('request.repeated fail')
  })
})

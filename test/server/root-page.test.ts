import { expect, test } from 'vitest'
import type { Config } from '../../src/config/index.ts'
import { opener } from '../builders/opener.ts'

const { openGateway } = opener()

/** Headers of a browser that requests a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test('GET / sends a browser to the console', async () => {
  const { address } = (await openGateway([])).server
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(`${address}/`, { method, headers: { accept: BROWSER }, redirect: 'manual' })
    expect(answer.status).toBe(302)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      location: '/console/',
      vary: 'accept',
      'cache-control': 'no-store',
    })
  }
})

test.each(['*/*', 'application/json', 'text/html;q=0', ''])(
  'GET / tells a client that accepts %j which paths there are',
  async accept => {
    const { address } = (await openGateway([])).server
    const answer = await fetch(`${address}/`, { headers: { accept }, redirect: 'manual' })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({
      error: {
        message:
          'There is nothing at GET /. Endpoints are below /v1, /v1beta and /v2, and the console is at /console/.',
      },
    })
  },
)

test('without a console, GET / is the same for browsers', async () => {
  const none = { console: undefined } as unknown as Partial<Config>
  const { address } = (await openGateway([], { config: none })).server
  const answer = await fetch(`${address}/`, { headers: { accept: BROWSER }, redirect: 'manual' })
  expect(answer.status).toBe(404)
  expect(JSON.stringify(await answer.json())).not.toContain('console')
})

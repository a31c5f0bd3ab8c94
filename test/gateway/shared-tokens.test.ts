import { expect, test } from 'vitest'
import { opener } from '../builders/opener.ts'
import { SERVING_KEY, Serving } from '../builders/serving.ts'
import { TIMED } from '../builders/time.ts'

const { closing, openUpstream } = opener()

test('workers share the token that their primary gets', TIMED, async () => {
  let issued = 0
  const tokens = await openUpstream(response => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: `token-${++issued}`, expires_in: 3600 }))
  })
  const upstream = await openUpstream(response => {
    response.setHeader('content-type', 'application/json')
    response.end(
      '{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}',
    )
  })
  const auth = { type: 'azure-client', tenant: 't', client_id: 'a', client_secret: 'entra-secret-1' }
  const serving = await Serving.start({
    server: { port: 0, drain: '0s', grace: '5s', workers: 2 },
    keys: [{ name: 'dev', key: SERVING_KEY, group: 'default' }],
    groups: { default: { models: ['*'] } },
    channels: [
      {
        ...{ name: 'c', provider: 'custom', formats: ['chat'], base_url: `${upstream.address}/v1`, models: ['m'] },
        auth: { ...auth, authority: tokens.address, scope: 'https://ai.azure.com/.default' },
      },
    ],
  })
  closing.push(() => serving.close())
  const answers = await Promise.all(Array.from({ length: 20 }, () => serving.chat('m')))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const used = new Set(upstream.seen.map(({ headers }) => headers.authorization))
  expect([...used]).toEqual(['Bearer token-1'])
  expect(tokens.seen.length).toBe(1)
  expect(serving.out).not.toMatch(/token-1|entra-secret-1/)
})

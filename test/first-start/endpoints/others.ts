import assert from 'node:assert/strict'
import type { Cases } from '../endpoints.ts'
import { Session, spokenTo } from '../session.ts'
import { SAID } from './said.ts'

const ids = (list: readonly { readonly id?: string; readonly name?: string }[]): string[] =>
  list.map(({ id, name }) => id ?? name ?? '')

/** Cases of lists, sockets, and endpoints that are not for callers of models. */
export const OTHER_CASES: Cases = {
  'GET /v1/models': async ({ ask, model }) => {
    assert.ok(ids((await ask('/v1/models')).json.data).includes(model))
  },
  'GET /v1/models/:id': async ({ ask, model }) => {
    assert.equal((await ask(`/v1/models/${model}`)).json.id, model)
  },
  'GET /inference-profiles': async ({ ask, model }) => {
    const { json } = await ask('/bedrock/inference-profiles?type=SYSTEM_DEFINED')
    const profiles: readonly { readonly inferenceProfileId: string }[] = json.inferenceProfileSummaries
    assert.ok(profiles.some(({ inferenceProfileId }) => inferenceProfileId === model))
  },
  'GET /inference-profiles/:id': async ({ ask, model }) => {
    assert.equal((await ask(`/inference-profiles/${model}`)).json.inferenceProfileId, model)
  },
  'GET /v1beta/models': async ({ ask, model }) => {
    assert.ok(ids((await ask('/v1beta/models')).json.models).includes(`models/${model}`))
  },
  'GET /v1beta/models/:id': async ({ ask, model }) => {
    assert.equal((await ask(`/v1beta/models/${model}`)).json.name, `models/${model}`)
  },
  'GET /v1/responses': async ({ address, key, model }) => {
    const session = new Session(address, { key, path: '/v1/responses' })
    try {
      await session.opened()
      session.send({ type: 'response.create', model, input: 'Say hello.' })
      const { response } = await session.first('response.completed')
      assert.equal(response.output.at(-1).content[0].text, SAID)
    } finally {
      session.close()
    }
  },
  'POST /v1/realtime/client_secrets': async ({ ask, model, made }) => {
    const { json } = await ask('/v1/realtime/client_secrets', { body: { session: { type: 'realtime', model } } })
    assert.match(json.value, /^ek_/)
    made.set('secret', json.value)
  },
  'GET /v1/realtime': async ({ address, key, model, made }) => {
    for (const [secret, path] of [
      [key, `/v1/realtime?model=${model}`],
      [made.get('secret')!, '/v1/realtime'],
    ] as const) {
      const session = new Session(address, { key: secret, path })
      try {
        assert.match(await spokenTo(session), /\w/)
      } finally {
        session.close()
      }
    }
  },
  'GET /healthz': async ({ ask }) => void (await ask('/healthz')),
  'GET /readyz': async ({ ask }) => {
    assert.match((await ask('/readyz')).text, /"status":\s*"(?:ready|ok)"/)
  },
  'GET /metrics': async ({ ask }) => void (await ask('/metrics', {}, 401)),
  'GET /console/': async ({ ask }) => {
    const { text } = await ask('/console/')
    for (const [, path] of text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) await ask(path!)
    assert.match(text, /<script type="module"[^>]* src="\/console\/assets\//)
  },
}

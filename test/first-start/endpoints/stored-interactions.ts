import assert from 'node:assert/strict'
import { eventsOf } from '../ask.ts'
import type { Cases } from '../endpoints.ts'
import { SAID } from './said.ts'

interface Step {
  readonly type: string
  readonly content?: readonly { readonly text?: string }[]
}

const textOf = (steps: readonly Step[]): string =>
  steps
    .flatMap(({ type, content = [] }) => (type === 'model_output' ? content : []))
    .map(({ text }) => text)
    .join('')

/** Cases of interactions below a path: one is created, retrieved, streamed, continued and deleted, one is cancelled. */
const casesAt = (path: string): Cases => ({
  [`GET ${path}/:id`]: {
    whole: async ({ ask, model, made }) => {
      const { json } = await ask(path, { body: { model, input: 'Say hello.' } })
      assert.equal(textOf(json.steps), SAID)
      made.set('interaction', json.id)
      const { json: found } = await ask(`${path}/${json.id}`)
      assert.deepEqual([found.id, textOf(found.steps)], [json.id, SAID])
      const next = { model, input: 'Go on.', previous_interaction_id: json.id }
      assert.equal((await ask(path, { body: next })).json.status, 'completed')
    },
    streamed: async ({ ask, made }) => {
      const events = eventsOf(await ask(`${path}/${made.get('interaction')}?stream=true&last_event_id=1`))
      assert.equal(events[0].event_id, '2')
      assert.equal(events.at(-1).event_type, 'interaction.completed')
    },
  },
  [`POST ${path}/:id/cancel`]: async ({ ask, model }) => {
    const { json } = await ask(path, { body: { model, input: 'Say hello.', background: true } })
    const cancelled = await ask(`${path}/${json.id}/cancel`, { method: 'POST' })
    assert.equal(cancelled.json.id, json.id)
    assert.match(cancelled.json.status, /^(cancelled|completed)$/)
  },
  [`DELETE ${path}/:id`]: async ({ ask, made }) => {
    const id = made.get('interaction')
    assert.deepEqual((await ask(`${path}/${id}`, { method: 'DELETE' })).json, {})
    await ask(`${path}/${id}`, {}, 404)
  },
})

export const INTERACTION_CASES: Cases = { ...casesAt('/v1beta/interactions'), ...casesAt('/v1/interactions') }

import assert from 'node:assert/strict'
import type { Cases, World } from '../endpoints.ts'
import { INTERACTION_CASES } from './stored-interactions.ts'

const response = ({ made }: World): string => `/v1/responses/${made.get('response')}`
const conversation = ({ made }: World): string => `/v1/conversations/${made.get('conversation')}`
const item = (world: World): string => `${conversation(world)}/items/${world.made.get('item')}`

const message = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

/** Cases of stored responses and conversations. The first uses the whole response of an earlier case. */
export const STORED_CASES: Cases = {
  'GET /v1/responses/:id': {
    whole: async world => {
      assert.equal((await world.ask(response(world))).json.id, world.made.get('response'))
    },
    streamed: async world => {
      const body = { model: world.model, input: 'Say hello.', background: true, stream: true }
      const { text } = await world.ask('/v1/responses', { body })
      const [, id] = /"id":"(resp_\w+)"/.exec(text) ?? []
      world.made.set('background', id!)
      const again = await world.ask(`/v1/responses/${id}?stream=true`)
      assert.match(again.text, /event: response\.completed\n/)
    },
  },
  'GET /v1/responses/:id/input_items': async world => {
    const { json } = await world.ask(`${response(world)}/input_items`)
    assert.equal(json.data[0].content[0].text, 'Say hello.')
  },
  'POST /v1/responses/:id/cancel': async world => {
    const { json } = await world.ask(`/v1/responses/${world.made.get('background')}/cancel`, { method: 'POST' })
    assert.equal(json.id, world.made.get('background'))
  },
  ...INTERACTION_CASES,
  'POST /v1/conversations': async ({ ask, made }) => {
    const { json } = await ask('/v1/conversations', { body: { items: [message('One.')] } })
    assert.equal(json.object, 'conversation')
    made.set('conversation', json.id)
  },
  'GET /v1/conversations/:id': async world => {
    assert.equal((await world.ask(conversation(world))).json.id, world.made.get('conversation'))
  },
  'POST /v1/conversations/:id': async world => {
    const { json } = await world.ask(conversation(world), { body: { metadata: { topic: 'tea' } } })
    assert.deepEqual(json.metadata, { topic: 'tea' })
  },
  'POST /v1/conversations/:id/items': async world => {
    const { json } = await world.ask(`${conversation(world)}/items`, { body: { items: [message('Two.')] } })
    world.made.set('item', json.data[0].id)
  },
  'GET /v1/conversations/:id/items': async world => {
    const { json } = await world.ask(`${conversation(world)}/items?order=asc`)
    assert.deepEqual(
      json.data.map((one: { content: { text: string }[] }) => one.content[0]?.text),
      ['One.', 'Two.'],
    )
  },
  'GET /v1/conversations/:id/items/:item': async world => {
    assert.equal((await world.ask(item(world))).json.content[0].text, 'Two.')
  },
  'DELETE /v1/conversations/:id/items/:item': async world => {
    await world.ask(item(world), { method: 'DELETE' })
    await world.ask(item(world), {}, 404)
  },
  'DELETE /v1/conversations/:id': async world => {
    assert.equal((await world.ask(conversation(world), { method: 'DELETE' })).json.deleted, true)
  },
  'DELETE /v1/responses/:id': async world => {
    assert.equal((await world.ask(response(world), { method: 'DELETE' })).json.deleted, true)
    await world.ask(response(world), {}, 404)
  },
}

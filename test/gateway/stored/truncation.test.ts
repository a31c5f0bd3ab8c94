import { afterEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { ModelFacts } from '../../../src/config/index.ts'
import type { Loose } from '../../clients/scene.ts'
import { Client } from '../../sockets/client.ts'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(() => testServer.close())

async function open(format: string, facts?: Partial<ModelFacts>): Promise<Speaker> {
  const speaker = await Speaker.open(format)
  const known: ModelFacts = { id: 'm', input: ['text'], output: ['text'], ...facts }
  testServer = await StoringGateway.open([speaker], facts === undefined ? {} : { models: new Map([['m', known]]) })
  return speaker
}

const ask = (body: JsonObject) => testServer.testServer.ask('/v1/responses', { model: 'm', ...body })

const long = 'one two three four five '.repeat(40)
const user = (content: string) => ({ role: 'user', content })
const TALK = [user(long), { role: 'assistant', content: 'Well.' }, user('And now?')]

describe.each([true, false])('truncation, where `store` is %s', store => {
  test('what is too long is cut where the context is known, and the answer says so', async () => {
    const speaker = await open('chat', { context: 300 })
    const { json, headers } = await ask({ input: TALK, instructions: 'Be brief.', truncation: 'auto', store })
    expect(json.truncation).toBe('auto')
    expect(headers['interlingua-loss']).toBeUndefined()
    expect(speaker.bodies[0].messages).toMatchObject([{ content: 'Be brief.' }, { content: 'And now?' }])
  })

  test('where it is not known nothing can be cut: that is a loss, and the answer says so', async () => {
    const speaker = await open('chat')
    const { json, headers } = await ask({ input: TALK, truncation: 'auto', store })
    expect(json.truncation).toBe('disabled')
    expect(headers['interlingua-loss']).toContain('truncation')
    expect(speaker.bodies[0].messages).toHaveLength(3)
    const streamed = await ask({ input: TALK, truncation: 'auto', store, stream: true })
    expect(streamed.text).toContain('"truncation":"disabled"')
    expect(streamed.text).not.toContain('"truncation":"auto"')
  })

  test('an upstream of the format is asked to do it itself', async () => {
    const speaker = await open('responses', { context: 300 })
    const body = { model: 'm', input: TALK, truncation: 'auto', store }
    await ask(body)
    expect(speaker.bodies).toEqual([body])
  })
})

test('turns that are kept are counted with the rest', async () => {
  const speaker = await open('messages', { context: 300 })
  const first = await ask({ input: TALK.slice(0, 1) })
  const next = await ask({ input: 'And now?', previous_response_id: first.json.id, truncation: 'auto' })
  expect(next.json).toMatchObject({ status: 'completed', truncation: 'auto' })
  expect(speaker.heard().turns.map(({ text }) => text)).toEqual(['And now?'])
})

test.each(['sometimes', 3, {}, ''])('%j is no truncation', async truncation => {
  const speaker = await open('responses')
  const { status, json } = await ask({ input: 'Hi', truncation })
  expect([status, json.error.param]).toEqual([400, 'truncation'])
  const client = await Client.open(testServer.testServer.server.address)
  const [event]: Loose[] = await client.turn({ input: 'Hi', truncation })
  client.socket.terminate()
  expect(event).toMatchObject({ type: 'error', error: { param: 'truncation' } })
  expect((await ask({ input: 'Hi', truncation: null })).status).toBe(200)
  expect(speaker.bodies).toHaveLength(1)
})

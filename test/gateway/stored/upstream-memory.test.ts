import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => {
  expect(testServer.faults).toEqual([])
  await testServer.close()
})

const NOT_FOUND = { status: 400, code: 'previous_response_not_found' }

/** Two upstreams of the format. The second is used only if the first fails. */
async function two(second: string): Promise<{ client: OpenAI; near: Speaker; far: Speaker }> {
  const near = await Speaker.open('responses', 'near')
  const far = await Speaker.open(second, 'far')
  testServer = await StoringGateway.open([near, far], {}, [
    near.channel({ priority: 0 }),
    far.channel({ priority: 0, weight: 0 }),
  ])
  return { client: testServer.client(), near, far }
}

/** Makes an upstream fail from now on. */
const breakDown = (speaker: Speaker): void => {
  speaker.upstream.script = response => response.writeHead(503).end('{}')
}

describe('whose memory is used', () => {
  test('the upstream that remembers is asked in the words of the caller, before any equal', async () => {
    const { client, near, far } = await two('responses')
    let previous: string | undefined
    for (const input of ['a', 'b', 'c', 'd', 'e']) {
      const asked = { model: 'm', input, ...(previous === undefined ? {} : { previous_response_id: previous }) }
      previous = (await client.responses.create(asked)).id
      const speaker = near.bodies.length > 0 ? near : far
      expect(speaker.bodies.at(-1)).toEqual(asked)
    }
    expect([near.bodies.length, far.bodies.length].sort()).toEqual([0, 5])
  })

  test('another upstream of the same format gets the whole history, without foreign ids and signatures (trap 34)', async () => {
    const { client, near, far } = await two('responses')
    const [home, away] = await firstAsked(client, near, far)
    breakDown(home)
    const second = await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: FIRST.id })
    const [body] = away.bodies
    expect(body.previous_response_id).toBeUndefined()
    expect(body.input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi!' }] },
      expect.objectContaining({ type: 'message', role: 'assistant' }),
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
    ])
    expect(body.input.every((item: object) => !('id' in item))).toBe(true)
    expect(second.previous_response_id).toBe(FIRST.id)
    expect((await client.responses.retrieve(second.id)).previous_response_id).toBe(FIRST.id)
    await client.responses.create({ model: 'm', input: 'And on.', previous_response_id: second.id })
    expect(away.bodies.at(-1)).toEqual({ model: 'm', input: 'And on.', previous_response_id: second.id })
  })

  test('an upstream of another format is told everything', async () => {
    const { client, near, far } = await two('messages')
    await firstAsked(client, near, far)
    breakDown(near)
    await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: FIRST.id })
    expect(far.heard().turns.map(({ text }) => text)).toEqual(['Hi!', 'Hello.', 'Go on.'])
  })

  test('what nobody here knows is asked of an upstream of the format alone', async () => {
    const { client, near, far } = await two('chat')
    await client.responses.create({ model: 'm', input: 'x', previous_response_id: 'resp_elsewhere' })
    expect(near.bodies).toEqual([{ model: 'm', input: 'x', previous_response_id: 'resp_elsewhere' }])
    await client.responses.create({ model: 'm', input: 'x', conversation: 'conv_elsewhere' })
    expect(near.bodies[1].conversation).toBe('conv_elsewhere')
    expect(far.bodies).toEqual([])
  })

  test('an upstream that keeps nothing is told everything each time', async () => {
    const near = await Speaker.open('responses', 'near')
    testServer = await StoringGateway.open([near], {}, [near.channel({}, { stateless: true })])
    const client = testServer.client()
    const first = await client.responses.create({ model: 'm', input: 'Hi!' })
    await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: first.id })
    expect(near.bodies[1].previous_response_id).toBeUndefined()
    expect(near.heard().turns.map(({ text }) => text)).toEqual(['Hi!', 'Well.', 'Go on.'])
  })

  test.each(['/v1/responses/compact', '/v1/responses/input_tokens'])('%s takes up what came before', async path => {
    const near = await Speaker.open('chat', 'near')
    testServer = await StoringGateway.open([near])
    const long = 'Remember the number forty-two. '.repeat(20)
    const first = await testServer.client().responses.create({ model: 'm', input: long })
    const ask = async (body: object) => (await testServer.testServer.ask(path, { model: 'm', ...body })).json
    const next = await ask({ input: 'Hi!', previous_response_id: first.id })
    expect(next.error).toBeUndefined()
    if (path.endsWith('compact')) expect(JSON.stringify(near.bodies.at(-1))).toContain('forty-two')
    else expect(next.input_tokens).toBeGreaterThan((await ask({ input: 'Hi!' })).input_tokens + 50)
    expect((await ask({ input: 'Hi!', previous_response_id: 'resp_none' })).error.code).toBe(
      'previous_response_not_found',
    )
  })

  test('a chain lost in the middle is not continued as if it were whole', async () => {
    const near = await Speaker.open('chat', 'near')
    testServer = await StoringGateway.open([near])
    const client = testServer.client()
    const first = await client.responses.create({ model: 'm', input: 'a' })
    const second = await client.responses.create({ model: 'm', input: 'b', previous_response_id: first.id })
    await client.responses.delete(first.id)
    const asked = { model: 'm', input: 'c', previous_response_id: second.id }
    await expect(client.responses.create(asked)).rejects.toMatchObject({
      ...NOT_FOUND,
      message: expect.stringContaining(first.id),
    })
  })

  test('a response or a conversation, not both', async () => {
    testServer = await StoringGateway.open([await Speaker.open('chat')])
    const asked = { model: 'm', input: 'c', previous_response_id: 'resp_a', conversation: 'conv_b' }
    await expect(testServer.client().responses.create(asked)).rejects.toMatchObject({ status: 400 })
  })
})

let FIRST: OpenAI.Responses.Response

/** The upstream that answered the first turn, and the other one. */
async function firstAsked(client: OpenAI, near: Speaker, far: Speaker): Promise<[Speaker, Speaker]> {
  near.scenes = [{ thought: 'Hm.', text: 'Hello.' }]
  far.scenes = far.format === 'responses' ? [{ thought: 'Hm.', text: 'Hello.' }] : []
  FIRST = await client.responses.create({ model: 'm', input: 'Hi!' })
  const pair: [Speaker, Speaker] = near.bodies.length > 0 ? [near, far] : [far, near]
  pair[1].scenes = []
  return pair
}

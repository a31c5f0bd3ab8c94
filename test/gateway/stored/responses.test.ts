import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { OTHER_KEY } from '../../builders/config.ts'
import { FORMATS } from '../../clients/stage.ts'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => {
  expect(testServer.faults).toEqual([])
  await testServer.close()
})

type Params = OpenAI.Responses.ResponseCreateParams
type Response = OpenAI.Responses.Response

/** Requests a response, complete or streamed. The next request can follow as soon as it has arrived. */
async function ask(client: OpenAI, body: Params, stream = false): Promise<Response> {
  if (!stream) return client.responses.create({ ...body, stream: false })
  for await (const event of await client.responses.create({ ...body, stream: true }))
    if (event.type === 'response.completed') return event.response
  throw new Error('The stream has no end.')
}

const NOT_FOUND = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' }
const user = (text: string) => ({ role: 'user', text })
const assistant = (text: string) => ({ role: 'assistant', text })

describe.each(FORMATS)('before an upstream of %s', format => {
  let speaker: Speaker
  const open = async (): Promise<OpenAI> => {
    speaker = await Speaker.open(format)
    testServer = await StoringGateway.open([speaker])
    return testServer.client()
  }

  test.each([false, true])('a turn continues the previous turns (trap 70; streamed: %s)', async stream => {
    const client = await open()
    speaker.scenes = [{ text: 'Hello.' }, { text: 'Yes.' }, { text: 'Bye.' }]
    const first = await ask(client, { model: 'm', input: 'Hi!', instructions: 'Be brief.' }, stream)
    const second = await ask(client, { model: 'm', input: 'Go on.', previous_response_id: first.id }, stream)
    const input = [{ role: 'user', content: 'And on.' } as const]
    const third = await ask(client, { model: 'm', input, previous_response_id: second.id }, stream)
    expect(new Set([first.id, second.id, third.id]).size).toBe(3)
    if (format === 'responses')
      expect(speaker.bodies.map(body => body.previous_response_id)).toEqual([undefined, first.id, second.id])
    else {
      const talk = [user('Hi!'), assistant('Hello.'), user('Go on.'), assistant('Yes.'), user('And on.')]
      expect(speaker.heard().turns).toEqual(talk)
      expect(third.previous_response_id).toBe(second.id)
    }
  })

  test('a response can be read, listed and deleted', async () => {
    const client = await open()
    const asked = { model: 'm', input: 'Hi!', metadata: { a: 'b' } }
    const made = await ask(client, asked)
    expect(await client.responses.retrieve(made.id)).toEqual(expect.objectContaining({ ...made, output: made.output }))
    const { data } = await client.responses.inputItems.list(made.id)
    const content = [{ type: 'input_text', text: 'Hi!' }]
    expect(data).toEqual([
      { id: expect.stringMatching(/^msg_/), type: 'message', role: 'user', status: 'completed', content },
    ])
    await client.responses.delete(made.id)
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(client.responses.delete(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(ask(client, { model: 'm', input: 'x', previous_response_id: made.id })).rejects.toMatchObject(
      NOT_FOUND,
    )
  })

  test('input may be a string, an item or a list of items (trap 71)', async () => {
    const client = await open()
    const item = { role: 'user', content: 'Hi!' } as const
    for (const input of ['Hi!', item, [item]] as const) {
      const made = await ask(client, { model: 'm', input: input as string })
      const { data } = await client.responses.inputItems.list(made.id)
      expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi!' }] }])
      await ask(client, { model: 'm', input: 'Go on.', previous_response_id: made.id })
      if (format !== 'responses') expect(speaker.heard().turns[0]).toEqual(user('Hi!'))
    }
  })

  test("another key's response is answered like an unknown one", async () => {
    const client = await open()
    const stranger = testServer.client(OTHER_KEY)
    const made = await ask(client, { model: 'm', input: 'Hi!' })
    const seen = speaker.bodies.length
    await expect(stranger.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(stranger.responses.inputItems.list(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(stranger.responses.delete(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(stranger.responses.cancel(made.id)).rejects.toMatchObject({ status: 404 })
    await expect(ask(stranger, { model: 'm', input: 'x', previous_response_id: made.id })).rejects.toMatchObject(
      NOT_FOUND,
    )
    const input = [{ type: 'item_reference', id: made.output[0]!.id! } as const]
    await expect(ask(stranger, { model: 'm', input })).rejects.toMatchObject({ status: 400 })
    expect(speaker.bodies.length).toBe(seen)
    expect(await client.responses.retrieve(made.id)).toMatchObject({ id: made.id })
  })

  test('a response with `store: false` is not stored', async () => {
    const client = await open()
    const made = await ask(client, { model: 'm', input: 'Hi!', store: false })
    await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    if (format !== 'responses')
      await expect(ask(client, { model: 'm', input: 'x', previous_response_id: made.id })).rejects.toMatchObject(
        NOT_FOUND,
      )
  })

  test('item references are resolved', async () => {
    const client = await open()
    speaker.scenes = [{ calls: [{ id: 'call_1', name: 'look', arguments: { at: 'it' } }] }, { text: 'Seen.' }]
    const made = await ask(client, { model: 'm', input: 'Look!' })
    const call = made.output.find(item => item.type === 'function_call')!
    await ask(client, {
      model: 'm',
      input: [
        { role: 'user', content: 'Look!' },
        { type: 'item_reference', id: call.id! },
        { type: 'function_call_output', call_id: call.call_id, output: '"a wall"' },
      ],
    })
    if (format === 'responses') expect(speaker.bodies[1].input[1]).toEqual({ type: 'item_reference', id: call.id })
    else
      expect(speaker.heard().turns).toMatchObject([
        user('Look!'),
        { role: 'assistant', calls: [{ name: 'look', arguments: { at: 'it' } }] },
        { results: [{ output: 'a wall' }] },
      ])
  })

  test.each([false, true])('a conversation grows by each turn (streamed: %s)', async stream => {
    const client = await open()
    speaker.scenes = [{ text: 'Hello.' }, { text: 'Bye.' }]
    const conversation = await client.conversations.create({
      items: [{ role: 'user', content: 'First.' }],
      metadata: { a: 'b' },
    })
    const first = await ask(client, { model: 'm', input: 'Hi!', conversation: conversation.id }, stream)
    const second = await ask(client, { model: 'm', input: 'Go on.', conversation: { id: conversation.id } }, stream)
    expect(first.conversation).toEqual({ id: conversation.id })
    expect(second.conversation).toEqual({ id: conversation.id })
    expect(speaker.heard().turns.map(({ text }) => text)).toEqual(['First.Hi!', 'Hello.', 'Go on.'])
    const items = await client.conversations.items.list(conversation.id, { order: 'asc', limit: 3 })
    expect(items.data.map(({ type }) => type)).toEqual(['message', 'message', 'message'])
    expect(items.has_more).toBe(true)
    await client.conversations.delete(conversation.id)
    await expect(client.conversations.retrieve(conversation.id)).rejects.toMatchObject({ status: 404 })
  })
})

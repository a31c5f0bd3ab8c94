import type OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import type { Script } from '../../builders/upstream.ts'
import type { Loose } from '../../clients/scene.ts'
import { Client } from '../../sockets/client.ts'
import { bodyOf, Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(async () => {
  expect(testServer.faults).toEqual([])
  await testServer.close()
})

type Refuse = (body: Loose) => { readonly status: number; readonly error: object } | undefined

const refused =
  (status: number, error: object): Refuse =>
  ({ previous_response_id, input }) =>
    previous_response_id != null || JSON.stringify(input).includes('item_reference') ? { status, error } : undefined

/** Errors with which upstreams report an unknown reference. */
const WAYS: { readonly [who: string]: Refuse } = {
  OpenAI: refused(400, {
    message: "Previous response with id 'resp_1' not found.",
    type: 'invalid_request_error',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  }),
  'one that retains nothing': refused(400, {
    message: 'Previous response cannot be used for this organization due to Zero Data Retention.',
    param: 'previous_response_id',
    code: 'unsupported_parameter',
  }),
  vLLM: ({ previous_response_id: id }) =>
    id == null ? undefined : { status: 404, error: { message: `Response with id '${id}' not found.`, code: 404 } },
  'one that says nothing': refused(404, {}),
}

/** Reports the error inside a stream. */
const inStream: Script = response => {
  const failed = {
    status: 'failed',
    error: { code: 'previous_response_not_found', message: 'Previous response gone.' },
  }
  const events = ['created', 'failed'].map(type => ({
    type: `response.${type}`,
    response: { id: 'resp_x', output: [] },
  }))
  Object.assign(events[1]!.response, failed)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

/** An upstream that stores nothing and says so. */
async function forgetful(refuse: Refuse): Promise<Speaker> {
  const speaker = await Speaker.open('responses', 'near')
  const speak = speaker.upstream.script
  speaker.upstream.script = (response, seen) => {
    const no = refuse(bodyOf(seen))
    if (no === undefined) return speak(response, seen)
    response.writeHead(no.status, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ error: no.error }))
  }
  return speaker
}

const textOf = (speaker: Speaker): string[] => speaker.heard().turns.map(({ text }) => text)
const WHOLE = ['Hi!', 'Hello.', 'Go on.']

describe.each(Object.keys(WAYS))('an upstream that forgot, in the words of %s', who => {
  async function begun(): Promise<{ client: OpenAI; speaker: Speaker; first: OpenAI.Responses.Response }> {
    const speaker = await forgetful(WAYS[who]!)
    testServer = await StoringGateway.open([speaker])
    const client = testServer.client()
    speaker.scenes = [{ thought: 'Hm.', text: 'Hello.' }, { text: 'Gone on.' }]
    return { client, speaker, first: await client.responses.create({ model: 'm', input: 'Hi!' }) }
  }

  test('is told all of it once more: whole', async () => {
    const { client, speaker, first } = await begun()
    const second = await client.responses.create({ model: 'm', input: 'Go on.', previous_response_id: first.id })
    expect(second).toMatchObject({ status: 'completed', output_text: 'Gone on.', previous_response_id: first.id })
    expect(speaker.bodies.map(body => body.previous_response_id)).toEqual([undefined, first.id, undefined])
    expect(textOf(speaker)).toEqual(WHOLE)
    expect(speaker.bodies[2].input.every((item: object) => !('id' in item))).toBe(true)
    expect(speaker.bodies[2].input[1]).toMatchObject({ type: 'reasoning', encrypted_content: expect.any(String) })
    expect(await client.responses.retrieve(second.id)).toMatchObject({ previous_response_id: first.id })
  })

  test('streamed', async () => {
    const { client, speaker, first } = await begun()
    const asked = { model: 'm', input: 'Go on.', previous_response_id: first.id, stream: true } as const
    let last: OpenAI.Responses.ResponseStreamEvent | undefined
    for await (const event of await client.responses.create(asked)) last = event
    expect(last).toMatchObject({ type: 'response.completed', response: { previous_response_id: first.id } })
    expect(textOf(speaker)).toEqual(WHOLE)
  })

  test('in the background', async () => {
    const { client, speaker, first } = await begun()
    const asked = { model: 'm', input: 'Go on.', previous_response_id: first.id, background: true }
    let response = await client.responses.create(asked)
    while (response.status === 'queued' || response.status === 'in_progress')
      response = await client.responses.retrieve(response.id)
    expect(response).toMatchObject({ status: 'completed', output_text: 'Gone on.' })
    expect(textOf(speaker)).toEqual(WHOLE)
  })

  test('over a socket', async () => {
    const { speaker, first } = await begun()
    const client = await Client.open(testServer.testServer.server.address)
    const events = await client.turn({ input: 'Go on.', previous_response_id: first.id })
    client.socket.terminate()
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' })
    expect(textOf(speaker)).toEqual(WHOLE)
  })

  test('what it never told of here is its own to refuse, and it is asked once', async () => {
    const { client, speaker } = await begun()
    const asked = { model: 'm', input: 'Go on.', previous_response_id: 'resp_elsewhere' }
    const status = who === 'vLLM' || who === 'one that says nothing' ? 404 : 400
    await expect(client.responses.create(asked)).rejects.toMatchObject({ status })
    expect(speaker.bodies.length).toBe(2)
  })
})

test('an item that an upstream forgot is written out', async () => {
  const speaker = await forgetful(({ input }) =>
    JSON.stringify(input).includes('item_reference')
      ? { status: 404, error: { message: "Item with id 'msg_1' not found.", param: 'input', code: null } }
      : undefined,
  )
  testServer = await StoringGateway.open([speaker])
  const client = testServer.client()
  speaker.scenes = [{ text: 'Hello.' }]
  const first = await client.responses.create({ model: 'm', input: 'Hi!' })
  const item = { type: 'item_reference', id: first.output[0]!.id! } as const
  const asked = { model: 'm', input: [item, { role: 'user', content: 'Go on.' } as const] }
  expect((await client.responses.create(asked)).status).toBe('completed')
  expect(textOf(speaker)).toEqual(['Hello.', 'Go on.'])
})

test('a failure inside a stream is such a failure as well', async () => {
  const speaker = await Speaker.open('responses', 'near')
  testServer = await StoringGateway.open([speaker])
  const client = testServer.client()
  const first = await client.responses.create({ model: 'm', input: 'Hi!' })
  const speak = speaker.upstream.script
  speaker.upstream.script = (response, seen) =>
    bodyOf(seen).previous_response_id == null ? speak(response, seen) : inStream(response, seen)
  const asked = { model: 'm', input: 'Go on.', previous_response_id: first.id, stream: true } as const
  const types: string[] = []
  for await (const event of await client.responses.create(asked)) types.push(event.type)
  expect(types.filter(type => type === 'response.created')).toHaveLength(1)
  expect(types.at(-1)).toBe('response.completed')
  expect(textOf(speaker)).toEqual(['Hi!', 'Well.', 'Go on.'])
})

test('one that refuses the whole, too, is not asked a third time', async () => {
  const speaker = await Speaker.open('responses', 'near')
  testServer = await StoringGateway.open([speaker])
  const client = testServer.client()
  const first = await client.responses.create({ model: 'm', input: 'Hi!' })
  const error = { message: 'Previous response not found.', code: 'previous_response_not_found' }
  speaker.upstream.script = response => response.writeHead(404).end(JSON.stringify({ error }))
  const asked = { model: 'm', input: 'Go on.', previous_response_id: first.id }
  await expect(client.responses.create(asked)).rejects.toMatchObject({ code: error.code })
  expect(speaker.bodies.length).toBe(3)
})

test('any other refusal of a request that points at something is the caller’s', async () => {
  const speaker = await Speaker.open('responses', 'near')
  testServer = await StoringGateway.open([speaker])
  const client = testServer.client()
  const first = await client.responses.create({ model: 'm', input: 'Hi!' })
  const error = { message: 'Unsupported value: tool_choice.', param: 'tool_choice', code: 'unsupported_value' }
  speaker.upstream.script = response => response.writeHead(400).end(JSON.stringify({ error }))
  const asked = { model: 'm', input: 'Go on.', previous_response_id: first.id }
  await expect(client.responses.create(asked)).rejects.toMatchObject({ status: 400, code: error.code })
  expect(speaker.bodies.length).toBe(2)
})

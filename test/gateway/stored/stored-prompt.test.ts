import { afterEach, expect, test } from 'vitest'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(() => testServer.close())

const ASKED = { model: 'm', prompt: { id: 'pmpt_1', version: '2', variables: { city: 'Bern' } } }

test.each([{}, { stream: true }, { background: true }])(
  'a stored prompt where none is kept is refused: %j',
  async more => {
    const speaker = await Speaker.open('chat')
    testServer = await StoringGateway.open([speaker])
    const { status, json } = await testServer.testServer.ask('/v1/responses', { ...ASKED, input: 'Hi!', ...more })
    expect(status).toBe(400)
    expect(json.error).toMatchObject({ type: 'invalid_request_error', param: 'prompt', code: 'unsupported_parameter' })
    expect(speaker.bodies).toEqual([])
  },
)

test('a stored prompt goes to an upstream that may have it, and to no other where that fails', async () => {
  const [chat, responses] = [await Speaker.open('chat', 'first'), await Speaker.open('responses', 'second')]
  testServer = await StoringGateway.open([chat, responses], {}, [
    chat.channel({ priority: 0 }),
    responses.channel({ priority: 1 }),
  ])
  expect((await testServer.testServer.ask('/v1/responses', { ...ASKED, input: 'Hi!' })).status).toBe(200)
  expect(responses.bodies[0].prompt).toEqual(ASKED.prompt)
  responses.upstream.script = response => response.writeHead(503).end('{}')
  expect((await testServer.testServer.ask('/v1/responses', { ...ASKED, input: 'Hi!' })).status).toBe(503)
  expect(chat.bodies).toEqual([])
  expect((await testServer.testServer.ask('/v1/responses', { model: 'm', input: 'Hi!', prompt: null })).status).toBe(
    200,
  )
})

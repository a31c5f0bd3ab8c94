import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION_HEADERS } from '../../builders/http.ts'
import { Stage } from '../stage.ts'
import { CHAT } from './chat.ts'
import { CONTENTS, MESSAGES, RESPONSES } from './others.ts'
import { heardOf, type Said } from './said.ts'

/* Every client, whole and streamed, understands the same answer in any form of its upstream. */

const SAID: { readonly [format: string]: readonly Said[] } = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
  contents: CONTENTS,
}

/**
 * A whole answer reaches a client of its own format unchanged, and only the gateway understands some of these forms.
 */
const asItCame = (way: string, format: string): boolean => way === `${format}, whole, of a whole answer`
describe.each(Object.keys(SAID))('an upstream of %s may send', format => {
  let stage: Stage
  beforeAll(async () => void (stage = await Stage.open(format)))
  afterAll(() => stage.close())

  test.each(SAID[format]!.map(one => [one.name, one] as const))('%s', async (_, said) => {
    const heard = await heardOf(stage, format, said)
    for (const [way, got] of Object.entries(heard))
      if (!asItCame(way, format)) expect(got, way).toMatchObject(said.want)
  })
})

test('a whole answer goes to a client of its own format unchanged, odd or not', async () => {
  const stage = await Stage.open('chat')
  for (const { whole } of CHAT.filter(one => typeof one.whole === 'object')) {
    stage.does(response => response.setHeader('content-type', 'application/json').end(JSON.stringify(whole)))
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi!' }] }
    expect((await stage.testServer.ask('/v1/chat/completions', body)).json).toEqual(withCallIds(whole))
  }
  await stage.close()
})

/** Replaces the id of a call that has none, an empty one, or that of an earlier call (trap 6). */
function withCallIds(whole: unknown): unknown {
  const seen = new Set<unknown>(['', undefined])
  const own = (call: { readonly id?: string }) => {
    if (seen.has(call.id)) return { ...call, id: expect.stringMatching(/^call_/) }
    seen.add(call.id)
    return call
  }
  return JSON.parse(JSON.stringify(whole), (key, value) =>
    key === 'tool_calls' && Array.isArray(value) ? value.map(own) : value,
  )
}

test.each(['chat', 'contents'])('an error that %s wraps in a list says why all the same', async format => {
  const stage = await Stage.open(format)
  const error = { code: 400, message: 'The pen is missing.', status: 'INVALID_ARGUMENT' }
  stage.does(response => response.writeHead(400).end(JSON.stringify([{ error }])))
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi!' }] }
  const answer = await stage.testServer.ask('/v1/chat/completions', body)
  expect([answer.status, answer.json.error.message]).toEqual([400, 'The pen is missing.'])
  await stage.close()
})

test.each([{}, { choices: [] }])('an error of chat under status 200 is a failure, with %j beside it', async beside => {
  const stage = await Stage.open('chat')
  const error = { message: 'The pen is missing.', type: 'server_error', code: 503 }
  stage.does(response =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ id: 'x', ...beside, error })),
  )
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi!' }] }
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    const { status, json } = await stage.testServer.ask(path, body, VERSION_HEADERS)
    expect(status, path).toBeGreaterThanOrEqual(500)
    expect(json.error.message, path).toBe('The pen is missing.')
  }
  await stage.close()
})

test.each([
  ['sensitive', 'refusal'],
  ['eos_token', 'end_turn'],
  ['MAX_TOKENS', 'max_tokens'],
  ['constructor', 'end_turn'],
])('the word %s ends an answer of chat', async (word, heard) => {
  const stage = await Stage.open('chat')
  const message = { role: 'assistant', content: 'Hi!' }
  const answer = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: word }] }
  stage.does(response => response.setHeader('content-type', 'application/json').end(JSON.stringify(answer)))
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi!' }] }
  expect((await stage.testServer.ask('/v1/messages', body, VERSION_HEADERS)).json.stop_reason).toBe(heard)
  await stage.close()
})

test.each([
  'event: error\ndata: {"message":"The pen broke.","type":"server_error"}\n\n',
  'data: {"object":"error","message":"The pen broke.","type":"BadRequestError","code":400}\n\n',
])('an error amid a stream of chat that is wrapped in nothing says why: %s', async event => {
  const stage = await Stage.open('chat')
  const delta = JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'Hi' } }] })
  stage.does(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${delta}\n\n${event}`)
  })
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi!' }] }
  expect((await stage.testServer.ask('/v1/chat/completions', body)).text).toContain('The pen broke.')
  await stage.close()
})

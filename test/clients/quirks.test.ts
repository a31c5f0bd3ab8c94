import { afterAll, beforeAll, expect, test } from 'vitest'
import { google } from './callers/google.ts'
import { openaiChat } from './callers/openai-chat.ts'
import { frame, type Loose, PROOF, USAGE } from './scene.ts'
import { bodyOf, Stage } from './stage.ts'

/* Behaviour of clients with unusual upstreams. Each test is a fault that occurred. */

let stage: Stage
beforeAll(async () => void (stage = await Stage.open('chat')))
afterAll(() => stage.close())

test('OpenAI’s client counts the tokens of a stream whose upstream gives it an empty id', async () => {
  const frames = stage.format.frames({ text: 'Four.' }).map(text => text.replace('"chatcmpl-up"', '""'))
  stage.does(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(frames.join(''))
  })
  const got = await openaiChat.open(stage.address).say({ text: 'Two and two?' }, { stream: true })
  expect(got).toMatchObject({ text: 'Four.', input: USAGE.input, output: USAGE.output })
})

test('OpenAI’s client takes a streamed answer that its upstream gave whole and without a reason to end', async () => {
  const message = { role: 'assistant', content: 'Four.' }
  const body = { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message }] }
  stage.does(response => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)))
  const got = await openaiChat.open(stage.address).say({ text: 'Two and two?' }, { stream: true })
  expect(got).toMatchObject({ text: 'Four.', finish: 'stop' })
})

test('OpenAI’s client sees an error that comes as an event of a stream (trap 75)', async () => {
  const [first] = stage.format.frames({ text: 'Four.' })
  stage.does(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${first}${frame({ error: { message: 'The pen broke.', code: 'tool_use_failed' } }, 'error')}`)
  })
  await expect(openaiChat.open(stage.address).say({ text: 'Hi!' }, { stream: true })).rejects.toThrow('The pen broke.')
})

test('Google’s client receives foreign reasoning in chunks and returns it complete with its signature', async () => {
  const upstream = await Stage.open('messages')
  upstream.plays(
    { thought: 'I need the weather.', calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Bern' } }] },
    { text: 'Rain.' },
  )
  const talk = google.open(upstream.address)
  await talk.say({ text: 'Weather?' }, { stream: true, thinks: true, tools: true })
  await talk.say({ outputs: [{ sky: 'rain' }] }, { stream: true, thinks: true, tools: true })
  const { messages } = bodyOf(upstream.seen[1]!) as Loose
  await upstream.close()
  expect(messages[1].content[0]).toEqual({ type: 'thinking', thinking: 'I need the weather.', signature: PROOF })
})

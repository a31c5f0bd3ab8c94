import { GoogleGenAI, type Interactions } from '@google/genai'
import { afterEach, describe, expect, test } from 'vitest'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import type { Loose } from './scene.ts'

/* Google's SDK for interactions that the client keeps itself, before an upstream of the format and before one of chat. */

const CALL = { type: 'function_call', id: 'call_1', name: 'get_time', arguments: { zone: 'UTC' }, signature: '' }
const THOUGHT = { type: 'thought', signature: 'cHJvb2Y=' }
const SAID = 'It is noon.'
const TOOL = { type: 'function', name: 'get_time', parameters: { type: 'object', properties: {} } } as const
const QUESTION = { type: 'user_input', content: [{ type: 'text', text: 'What time is it?' }] } as const

const frame = (event: Loose): string => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`

/** Returns the fault of a request, as a strict upstream sees it. */
function faultOf(body: Loose, headers: Loose): string | undefined {
  if (headers['api-revision'] !== '2026-05-20') return 'the revision is missing'
  if (headers['x-goog-api-key'] === undefined) return 'the key is missing'
  const ids = new Set(body.input.filter((one: Loose) => one.type === 'function_call').map((one: Loose) => one.id))
  for (const step of body.input)
    if (step.type === 'function_result' && !ids.has(step.call_id)) return `no call ${step.call_id}`
  return undefined
}

/** A hand-written upstream of interactions: it calls the tool, and answers when it has the result with the proof. */
const answerTo = (body: Loose): Loose[] => {
  const hasResult = body.input.some((step: Loose) => step.type === 'function_result')
  if (!hasResult) return [THOUGHT, CALL]
  const hasProof = body.input.some((step: Loose) => step.signature === THOUGHT.signature)
  return [{ type: 'model_output', content: [{ type: 'text', text: hasProof ? SAID : 'The proof is missing.' }] }]
}

function framesOf(steps: readonly Loose[], status: string): string {
  const interaction = { id: 'v1_up', object: 'interaction', model: 'theirs' }
  const events = steps.flatMap((step, index): Loose[] => {
    const { signature, ...bare } = step
    const [start, delta] =
      step.type === 'thought'
        ? [bare, { type: 'thought_signature', signature }]
        : step.type === 'function_call'
          ? [
              { ...step, arguments: {} },
              { type: 'arguments_delta', arguments: JSON.stringify(step.arguments) },
            ]
          : [{ type: 'model_output' }, step.content[0]]
    return [
      { event_type: 'step.start', index, step: start },
      { event_type: 'step.delta', index, delta },
      { event_type: 'step.stop', index },
    ]
  })
  const all = [
    { event_type: 'interaction.created', interaction: { ...interaction, status: 'in_progress' } },
    ...events,
    { event_type: 'interaction.completed', interaction: { ...interaction, status } },
  ]
  return `${all.map((event, at) => frame({ ...event, event_id: `e${at}` })).join('')}event: done\ndata: [DONE]\n\n`
}

const openInteractions = () =>
  FakeUpstream.open((response, { text, headers }) => {
    const body = JSON.parse(text)
    const fault = faultOf(body, headers)
    const fail = { error: { code: 'invalid_request', message: fault } }
    if (fault !== undefined)
      return response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(fail))
    const steps = answerTo(body)
    const status = steps.length > 1 ? 'requires_action' : 'completed'
    if (body.stream === true)
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(framesOf(steps, status))
    const answer = { id: 'v1_up', object: 'interaction', model: 'theirs', status, steps }
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })

/** An upstream of chat that calls the same tool. */
const openChat = () =>
  FakeUpstream.open((response, { text }) => {
    const body = JSON.parse(text)
    const hasResult = body.messages.some((one: Loose) => one.role === 'tool')
    const called = {
      id: 'call_1',
      index: 0,
      type: 'function',
      function: { name: 'get_time', arguments: '{"zone":"UTC"}' },
    }
    const message = hasResult ? { role: 'assistant', content: SAID } : { role: 'assistant', tool_calls: [called] }
    const head = { id: 'c', model: 'theirs', created: 0 }
    const finish_reason = hasResult ? 'stop' : 'tool_calls'
    if (body.stream !== true)
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason }] }))
    const chunks = [
      { ...head, choices: [{ index: 0, delta: message }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    ]
    return response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`${chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
  })

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function clientBefore(format: string): Promise<GoogleGenAI> {
  const upstream = format === 'chat' ? await openChat() : await openInteractions()
  const channel = channelAt(upstream.address, { format })
  const baseUrl = format === 'chat' ? `${upstream.address}/v1` : upstream.address
  const auth = format === 'chat' ? 'bearer' : 'x-goog-api-key'
  const { server } = await TestServer.open([{ ...channel, formats: [{ ...channel.formats[0]!, baseUrl, auth }] }])
  closing.push(
    () => server.close(0),
    () => upstream.close(),
  )
  return new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: server.address } })
}

/** Returns the steps of a streamed answer, as a client joins them. */
async function streamed(events: AsyncIterable<Loose>): Promise<{ steps: Loose[]; last: Loose }> {
  const steps: Loose[] = []
  let last: Loose
  for await (const event of events) {
    last = event
    if (event.event_type === 'step.start') steps[event.index] = { ...event.step, given: '' }
    if (event.event_type !== 'step.delta') continue
    const { text, arguments: given, signature } = event.delta
    steps[event.index].given += text ?? given ?? ''
    if (signature !== undefined) steps[event.index].signature = signature
  }
  for (const step of steps) {
    if (step.type === 'function_call') step.arguments = JSON.parse(step.given)
    if (step.type === 'model_output') step.content = [{ type: 'text', text: step.given }]
    delete step.given
  }
  return { steps, last }
}

describe.each(['interactions', 'chat'])('an agent of google-genai before %s', format => {
  test.each([false, true])('calls a tool, and gets the answer, streamed: %s', async stream => {
    const client = await clientBefore(format)
    const ask = async (input: readonly Loose[]) => {
      const request: Loose = { model: 'm', store: false, input, tools: [TOOL], stream }
      const answer: Loose = await client.interactions.create(
        request as Interactions.CreateModelInteractionParamsNonStreaming,
      )
      if (!stream) return { steps: answer.steps as Loose[], status: answer.status }
      const { steps, last } = await streamed(answer)
      expect(last.event_type).toBe('interaction.completed')
      return { steps, status: last.interaction.status }
    }
    const first = await ask([QUESTION])
    expect(first.status).toBe('requires_action')
    const call = first.steps.at(-1)
    expect(call).toMatchObject({ type: 'function_call', name: 'get_time', arguments: { zone: 'UTC' } })
    const result = { type: 'function_result', call_id: call.id, name: call.name, result: 'noon' }
    const second = await ask([QUESTION, ...first.steps, result])
    expect(second.status).toBe('completed')
    expect(second.steps.at(-1).content[0].text).toBe(SAID)
  })
})

test('a request that the upstream refuses has the form of an error of the format', async () => {
  const client = await clientBefore('interactions')
  const result = { type: 'function_result', call_id: 'none', result: 'noon' }
  const asked = client.interactions.create({ model: 'm', store: false, input: [{ bad: 1 }, result] } as Loose)
  await expect(asked).rejects.toThrow(/400|input/)
})

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  AnswerGate,
  callerOf,
  callersBeside,
  callersIn,
  inWordsOf,
  wordOf,
} from '../../../src/kit/conformance/callers.ts'
import { send } from '../../../src/kit/conformance/client.ts'
import type { Exchange, SentRequest } from '../../../src/kit/conformance/exchange.ts'
import { FORMATS } from '../../../src/kit/conformance/formats/index.ts'
import { type Results, resultsOf } from '../../../src/kit/conformance/report/results.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { requestOnWire } from '../../../src/kit/conformance/step-request.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'
import { closingAfterEach } from '../../builders/closing.ts'

/* Callers at once: the upstream answers each with its own word, in another order than they asked. */

const SCENARIO = readScenario('callers-at-once')
const CHAT = FORMATS['chat']!
const ALL = [0, ...callersBeside(SCENARIO)]

const closing = closingAfterEach()
let upstream: Upstream
beforeEach(async () => {
  upstream = await Upstream.open()
})
afterEach(() => upstream.close())

/** The request of a caller, as a client of the upstream sends it. */
function requestOf(caller: number, stream: boolean) {
  const values = { model: 'kit-chat', answers: [] }
  const { method, path, body } = requestOnWire(CHAT, SCENARIO.wires['chat']!.request, stream, values)
  const bytes = inWordsOf(caller, Buffer.from(JSON.stringify(body)))
  const headers = { 'content-type': 'application/json' }
  return { method, url: upstream.base('chat') + path, headers, body: bytes }
}

test.each(['whole', 'stream'])('every caller gets its own word: %s', async mode => {
  upstream.play(SCENARIO)
  const exchanges = await Promise.all(ALL.map(caller => send(requestOf(caller, mode === 'stream'))))
  expect(exchanges.map(({ got }) => [...callersIn(got!.body.toString())])).toEqual(ALL.map(caller => [caller]))
  expect(upstream.arrived.length).toBe(1)
  const beside = upstream.arrivedBeside.map(({ sent }) => callerOf(sent.body))
  expect(beside.toSorted()).toEqual(callersBeside(SCENARIO))
})

test('answers wait for the last request, which is answered first', async () => {
  const gate = new AnswerGate(ALL.length)
  const order: number[] = []
  const pass = async (caller: number) => {
    await gate.pass()
    order.push(caller)
  }
  const passing = ALL.slice(0, -1).map(pass)
  await sleep(10)
  expect(order).toEqual([])
  await Promise.all([...passing, pass(ALL.at(-1)!)])
  expect(order).toEqual(ALL.toReversed())
})

test('words change nothing else', () => {
  const bytes = Buffer.from([0xff, 0xc3, ...Buffer.from(`東京 ${wordOf(0)}`), 0x80])
  const other = inWordsOf(3, bytes)
  expect(other.length).toBe(bytes.length)
  expect(inWordsOf(0, bytes)).toBe(bytes)
  expect(other).toEqual(Buffer.from([0xff, 0xc3, ...Buffer.from(`東京 ${wordOf(3)}`), 0x80]))
})

/** Runs the streamed cell of a gateway that answers as stated. */
async function resultsOfGateway(
  answer: (sent: SentRequest, reply: ServerResponse) => void,
  scenario = SCENARIO,
): Promise<Results> {
  const gateway = createServer(async (message, reply) => {
    const { authorization = '', 'content-type': type = '' } = message.headers
    const headers = { authorization, 'content-type': type }
    answer({ method: 'POST', url: upstream.root + message.url, headers, body: await buffer(message) }, reply)
  })
  await new Promise<void>(resolve => gateway.listen(0, '127.0.0.1', resolve))
  closing.push(() => gateway.close())
  const { port } = gateway.address() as AddressInfo
  const bases = { chat: upstream.base('chat').replace(upstream.root, `http://127.0.0.1:${port}`) }
  const target = { name: 'gateway', bases, key: 'k', model: () => 'kit', translates: false }
  const chat = { callers: ['chat'], upstreams: ['chat'], only: '*/stream' }
  const results = await run({ target, upstream, scenarios: [scenario], ...chat })
  return resultsOf(results, { kit: '1', started: new Date(0), target, command: 'run' })
}

const failedRules = ({ checks }: Results): string[] =>
  checks.filter(({ status }) => status === 'fail').map(({ rule }) => rule)

const forward = ({ got }: Exchange, reply: ServerResponse): void => {
  reply.writeHead(got!.status, { 'content-type': got!.headers['content-type'] }).end(got!.body)
}

test('a gateway that sends one request after another passes', async () => {
  let before: Promise<unknown> = Promise.resolve()
  const results = await resultsOfGateway((sent, reply) => {
    before = before.then(async () => forward(await send(sent), reply))
  })
  expect(failedRules(results)).toEqual([])
  const rules = ['stream.own-answer', 'answer.same-status', 'request.own-request']
  expect(results.checks.map(({ rule }) => rule)).toEqual(expect.arrayContaining(rules))
})

test('a gateway that gives the first answer to the first caller fails', async () => {
  const waiting: ServerResponse[] = []
  const results = await resultsOfGateway(async (sent, reply) => {
    waiting.push(reply)
    forward(await send(sent), waiting.shift()!)
  })
  expect(failedRules(results)).toContain('stream.own-answer')
  // The report has both sides of the wire of each caller.
  const { beside } = results.cells[0]!.wire!
  expect(beside!.map(({ request, upstream: [arrived] }) => arrived!.body === request.body)).toEqual(
    [1, 2, 3, 4].map(() => true),
  )
})

test('a gateway that reads all streams into one buffer fails', async () => {
  let text = ''
  const results = await resultsOfGateway(async ({ url, ...sent }, reply) => {
    const { body } = await fetch(url, { ...sent, body: new Uint8Array(sent.body) })
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const end = text.lastIndexOf('\n\n') + 2
      reply.write(text.slice(0, end))
      text = text.slice(end)
    }
    reply.end()
  })
  expect(failedRules(results)).toContain('stream.own-answer')
})

/** A gateway that gives calls ids of its own, and remembers those of the upstream. */
async function resultsWithIds(newId: (id: string) => string): Promise<Results> {
  const ids = new Map<string, string>()
  const restored = (text: string): string => text.replace(/own_\w+/g, id => ids.get(id) ?? id)
  const replaced = (text: string): string =>
    text.replace(/call_caller\d/g, id => {
      const own = `own_${newId(id)}`
      ids.set(own, id)
      return own
    })
  return resultsOfGateway(async (sent, reply) => {
    const exchange = await send({ ...sent, body: Buffer.from(restored(sent.body.toString())) })
    const got = exchange.got!
    forward({ ...exchange, got: { ...got, body: Buffer.from(replaced(got.body.toString())) } }, reply)
  }, readScenario('callers-at-once-tools'))
}

test('each agent returns the ids of its own calls', async () => {
  const results = await resultsWithIds(id => `x${id}`)
  // Where nothing is translated, ids stay.
  expect(failedRules(results)).toEqual(['answer.meaning:candidates[0].calls[0].id'])
  const { beside, later } = results.cells[0]!.wire!
  expect(beside?.length).toBe(4)
  const second = later![0]!.beside!.map(({ request }) => /"tool_call_id":"(\w+)"/.exec(request.body!)![1])
  expect(second).toEqual([1, 2, 3, 4].map(caller => `own_xcall_caller${caller}`))
})

test('a gateway that remembers calls by ids which are the same for all agents fails', async () => {
  const results = await resultsWithIds(() => '1')
  expect(failedRules(results)).toEqual(expect.arrayContaining(['step-2.request.own-request']))
})

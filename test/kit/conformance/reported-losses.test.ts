import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Check } from '../../../src/kit/conformance/checks.ts'
import { leavesOf } from '../../../src/kit/conformance/facts.ts'
import { CONVERSATIONS } from '../../../src/kit/conformance/formats/index.ts'
import { type JsonObject, objectOf, parseJson } from '../../../src/kit/conformance/json.ts'
import { openProxy } from '../../../src/kit/conformance/proxy/index.ts'
import { lossNames, reportedInAnswer, reportedInRequest } from '../../../src/kit/conformance/reported-losses.ts'
import { run } from '../../../src/kit/conformance/run.ts'
import { readScenario } from '../../../src/kit/conformance/scenario.ts'
import { Upstream } from '../../../src/kit/conformance/upstream.ts'

/* A loss header excuses the facts that it names, and no others. */

const HEADER = 'x-lost-fields'

let upstream: Upstream
beforeAll(async () => {
  upstream = await Upstream.open()
})
afterAll(() => upstream.close())

/** Runs a cell of chat through a gateway that drops fields of requests and names some in its header. */
async function checksOf(scenario: string, dropped: readonly string[], named: string): Promise<readonly Check[]> {
  const proxy = await openProxy({
    upstream: upstream.root,
    meddling: {
      request: body => {
        const fields = Object.entries(objectOf(parseJson(body.toString()))).filter(([name]) => !dropped.includes(name))
        return Buffer.from(JSON.stringify(Object.fromEntries(fields)))
      },
      answer: got => ({ ...got, headers: { ...got.headers, [HEADER]: named } }),
    },
  })
  const bases = { chat: upstream.base('chat').replace(upstream.root, proxy.root) }
  const target = {
    ...{ name: 'dropping', key: 'k', model: () => 'kit-chat', translates: false },
    bases,
    lossHeader: HEADER,
  }
  const selection = {
    scenarios: [readScenario(scenario)],
    callers: ['chat'],
    upstreams: ['chat'],
    only: `chat-chat/${scenario}/whole`,
  }
  const [result] = await run({ target, upstream, ...selection })
  await proxy.close()
  return result!.checks.filter(({ meaning }) => meaning !== undefined && meaning !== 'kept')
}

const outcomes = (checks: readonly Check[]) => checks.map(({ rule, meaning, status }) => `${rule} ${meaning} ${status}`)

describe('a gateway that drops the temperature', () => {
  const RULE = 'request.meaning:settings.temperature'

  test.each(['seed', 'seed; top_p', 'messages/0/content', 'yes', '1', '*', '/'])('fails if it names %s', async named =>
    expect(outcomes(await checksOf('setting-temperature', ['temperature'], named))).toContain(
      `${RULE} lost-silently fail`,
    ),
  )

  test.each(['temperature', 'seed no-seed; temperature no-place-for-it', '/temperature', '$.temperature, seed'])(
    'has reported it if it names %s',
    async named =>
      expect(outcomes(await checksOf('setting-temperature', ['temperature'], named))).toEqual([
        `${RULE} lost-reported advice`,
      ]),
  )
})

test('a tool that a header names excuses no text', async () =>
  expect(outcomes(await checksOf('tool-turns', ['tools', 'messages'], 'tools/0'))).toContain(
    'request.meaning:turns[0].text lost-silently fail',
  ))

describe('names', () => {
  test.each<[string, readonly (readonly string[])[]]>([
    ['messages/3/reasoning_content no-reasoning; seed no-seed', [['messages', '3', 'reasoning_content'], ['seed']]],
    ['tools[0].function.strict', [['tools', '0', 'function', 'strict']]],
    ['messages[].cache_control', [['messages', '', 'cache_control']]],
    ['a%2Fb/c', [['a/b', 'c']]],
    ['%E0%A4%A/c', [['%E0%A4%A', 'c']]],
    ['{"type":"loss","losses":["seed no-seed"],"count":1}', [['loss'], ['seed']]],
    [' ; ,2', []],
  ])('%s', (header, names) => expect(lossNames(header)).toEqual(names))

  test('of headers and trailers are read alike', () =>
    expect(lossNames('seed', undefined, 'usage/cached')).toEqual([['seed'], ['usage', 'cached']]))

  test('are read up to a limit', () => {
    const before = performance.now()
    expect(lossNames('a/b;'.repeat(1_000_000)).length).toBe(100)
    expect(lossNames('['.repeat(1_000_000))).toEqual([])
    expect(lossNames('a.'.repeat(1_000_000))[0]!.length).toBeLessThan(1000)
    expect(performance.now() - before).toBeLessThan(1000)
  })
})

describe('of a request', () => {
  const { chat, messages, contents } = CONVERSATIONS as Required<typeof CONVERSATIONS>
  const reported = (format: NonNullable<typeof chat>, header: string, body: JsonObject) => {
    const request = { method: 'POST', path: '/', body }
    return reportedInRequest(lossNames(header), [request], one => leavesOf(format.request(one.body, one.path)))
  }

  test('an item excuses what it states', () => {
    const image = { type: 'image_url', image_url: { url: 'https://a/b.png' } }
    const body = { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, image] }] }
    const is = reported(chat!, 'messages/0/content/1', body)
    expect([is('turns[0].media[0].address'), is('turns[0].order'), is('turns[0].text')]).toEqual([true, true, false])
  })

  test('a message moves the turns after it', () => {
    const turns = ['user', 'assistant', 'user'].map(role => ({ role, content: role }))
    const is = reported(chat!, 'messages/0', { messages: turns })
    expect([is('turns[0].text'), is('turns[2].text'), is('system')]).toEqual([true, true, false])
  })

  test('the budget of reasoning is the wish for it', () => {
    const is = reported(messages!, 'thinking/budget_tokens', { thinking: { type: 'enabled', budget_tokens: 2000 } })
    expect([is('reasoning.budget'), is('reasoning.wanted'), is('reasoning.effort')]).toEqual([true, true, false])
  })

  test('a name may be longer than what the caller wrote', () => {
    const body = { contents: [{ parts: [{ text: 'a' }] }], generationConfig: { topK: 3 } }
    expect(reported(contents!, 'contents/0/0', body)('turns[0].text')).toBe(true)
    expect(reported(contents!, 'generationConfig/topK/value', body)('settings.topK')).toBe(false)
    expect(reported(contents!, 'constructor/prototype', body)('settings.topK')).toBe(false)
  })
})

test('of an answer are its fields, or the names of its facts', () => {
  const { messages } = CONVERSATIONS as Required<typeof CONVERSATIONS>
  const content = [
    { type: 'thinking', thinking: 'a', signature: 's' },
    { type: 'text', text: 'b' },
  ]
  const answer = { content, usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3 } }
  const is = (header: string, fact: string) =>
    reportedInAnswer(lossNames(header), answer, one => leavesOf(messages!.answer(objectOf(one))))(fact)
  expect(is('content/0', 'candidates[0].reasoning[0].signature')).toBe(true)
  expect(is('candidates/0/content/0/signature', 'candidates[0].reasoning[0].signature')).toBe(true)
  expect(is('candidates/1/content/0/signature', 'candidates[0].reasoning[0].signature')).toBe(false)
  expect(is('candidates/0/content/0/signature', 'candidates[0].text')).toBe(false)
  expect(is('candidates/0/content/0/made', 'made.size')).toBe(true)
  expect(is('segments/0/text', 'text')).toBe(false)
  expect(is('usage/cache_read_input_tokens', 'usage.cacheRead')).toBe(true)
  expect(is('usage/cached', 'usage.output')).toBe(false)
  expect(is('usage', 'usage.output')).toBe(true)
})

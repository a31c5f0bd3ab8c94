import { afterEach, describe, expect, test } from 'vitest'
import { dataOf } from '../../builders/http.ts'
import type { Loose } from '../../clients/scene.ts'
import { FORMATS } from '../../clients/stage.ts'
import { Speaker, StoringGateway } from './test-server.ts'

let testServer: StoringGateway
afterEach(() => testServer.close())

/**
 * Fields that OpenResponses requires in every response object, with their types. `null` is allowed only where listed.
 */
const FIELDS: { readonly [field: string]: readonly string[] } = {
  ...{ id: ['string'], object: ['string'], created_at: ['number'], completed_at: ['number', 'null'] },
  ...{ status: ['string'], incomplete_details: ['object', 'null'], model: ['string'] },
  ...{ previous_response_id: ['string', 'null'], instructions: ['string', 'null'], output: ['array'] },
  ...{ error: ['object', 'null'], tools: ['array'], tool_choice: ['string', 'object'], truncation: ['string'] },
  ...{ parallel_tool_calls: ['boolean'], text: ['object'], top_p: ['number'], presence_penalty: ['number'] },
  ...{ frequency_penalty: ['number'], top_logprobs: ['number'], temperature: ['number'] },
  ...{ reasoning: ['object', 'null'], usage: ['object', 'null'], max_output_tokens: ['number', 'null'] },
  ...{ max_tool_calls: ['number', 'null'], store: ['boolean'], background: ['boolean'], service_tier: ['string'] },
  ...{ metadata: ['object'], safety_identifier: ['string', 'null'], prompt_cache_key: ['string', 'null'] },
}

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const faultsOf = (response: Loose): string[] =>
  Object.entries(FIELDS).flatMap(([field, kinds]) =>
    kinds.includes(kindOf(response[field])) ? [] : [`${field} is ${kindOf(response[field])}`],
  )

const ASKED = [
  { model: 'm', input: 'Hi!' },
  {
    ...{ model: 'm', input: 'Hi!', instructions: 'Be brief.', temperature: 0.5, top_p: 0.5, max_output_tokens: 99 },
    ...{ tools: [{ type: 'function', name: 'f' }], tool_choice: 'none', truncation: 'disabled', metadata: { a: 'b' } },
    ...{ reasoning: { effort: 'low' }, service_tier: 'default', parallel_tool_calls: false, safety_identifier: 'me' },
  },
]

describe.each(FORMATS.filter(format => format !== 'responses'))('before an upstream of %s', format => {
  test.each(ASKED)('every response object is whole: fresh, kept, streamed, in the background (%#)', async asked => {
    testServer = await StoringGateway.open([await Speaker.open(format)])
    const ask = async (body: object): Promise<Loose> => (await testServer.testServer.ask('/v1/responses', body)).json
    const fresh = await ask(asked)
    expect(faultsOf(fresh)).toEqual([])
    const kept = await testServer.testServer.ask(`/v1/responses/${fresh.id}`, undefined, { method: 'GET' })
    expect(kept.json).toEqual(fresh)
    expect(faultsOf(await ask({ ...asked, background: true }))).toEqual([])
    const streamed = await testServer.testServer.ask('/v1/responses', { ...asked, stream: true })
    const responses = dataOf(streamed.text)
      .filter(data => data !== '[DONE]')
      .flatMap((data): Loose[] => JSON.parse(data).response ?? [])
    expect(responses.length).toBe(3)
    expect(responses.flatMap(faultsOf)).toEqual([])
    const ends = [null, null, expect.any(Number)]
    expect(responses.map(({ completed_at }) => completed_at)).toEqual(ends)
    expect(fresh.completed_at).toBeGreaterThanOrEqual(fresh.created_at)
    expect(Math.abs(fresh.completed_at - Date.now() / 1000)).toBeLessThan(60)
  })
})

test('what is not complete was not completed at any time', async () => {
  const speaker = await Speaker.open('chat')
  testServer = await StoringGateway.open([speaker])
  const message = { role: 'assistant', content: 'Well' }
  const cut = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'length' }],
  }
  speaker.upstream.script = response =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(cut))
  const { json } = await testServer.testServer.ask('/v1/responses', ASKED[0])
  expect(json).toMatchObject({ status: 'incomplete', completed_at: null })
})

test('what an upstream of the format leaves unsaid of the end is told', async () => {
  testServer = await StoringGateway.open([await Speaker.open('responses')])
  const ask = async (body: object): Promise<Loose> => (await testServer.testServer.ask('/v1/responses', body)).json
  const whole = await ask({ model: 'm', input: 'Hi!' })
  const { text } = await testServer.testServer.ask('/v1/responses', { model: 'm', input: 'Hi!', stream: true })
  const streamed: Loose = JSON.parse(
    dataOf(text)
      .filter(data => data !== '[DONE]')
      .at(-1)!,
  ).response
  for (const { completed_at, created_at } of [whole, streamed]) expect(completed_at).toBeGreaterThanOrEqual(created_at)
})

test.each(FORMATS)(
  'an answer told again begins as one that has not come yet, and ends as it is kept (%s)',
  async format => {
    const speaker = await Speaker.open(format)
    testServer = await StoringGateway.open([speaker])
    speaker.scenes = [{ thought: 'Hm.', text: 'Hello.' }]
    const { json: kept } = await testServer.testServer.ask('/v1/responses', { model: 'm', input: 'Hi!' })
    const { text } = await testServer.testServer.ask(`/v1/responses/${kept.id}?stream=true`, undefined, {
      method: 'GET',
    })
    const events: Loose[] = dataOf(text).flatMap(data => (data === '[DONE]' ? [] : JSON.parse(data)))
    const begun = { status: 'in_progress', completed_at: null, usage: null, output: [] }
    for (const { response } of events.slice(0, 2)) {
      expect(response).toMatchObject(begun)
      expect(faultsOf(response)).toEqual([])
    }
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)
    expect(done).toEqual(kept.output)
    expect(events.at(-1).response).toEqual(kept)
  },
)

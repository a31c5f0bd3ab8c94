import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { AdminServer } from '../builders/admin.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { channelAt, REALTIME } from '../builders/config.ts'
import { pause, until } from '../builders/time.ts'
import { DAY } from '../builders/units.ts'
import { FakeUpstream } from '../builders/upstream.ts'
import { Client } from '../sockets/client.ts'
import { inputTranscript, spoken, TURN_COMPLETE } from './live/machine.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

/* What voice sessions cost their callers. Prices are those of the catalogue, in dollars per million tokens. */

const closing = closingAfterEach()

/** Relayed frame by frame, and translated through canonical events. */
const PATHS = [
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const

const USAGE = {
  ...{ total_tokens: 1100, input_tokens: 1000, output_tokens: 100 },
  input_token_details: { text_tokens: 0, audio_tokens: 1000 },
  output_token_details: { text_tokens: 0, audio_tokens: 100 },
}
const IN = 32e-6
const OUT = 64e-6
/** Dollars that the response of `USAGE` costs. */
const RESPONSE_COST = 1000 * IN + 100 * OUT

const at = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 }
const started = { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } }
const ended = (usage: JsonObject | null, beside: JsonObject = {}): JsonObject => ({
  type: 'response.done',
  response: { id: 'r', status: 'completed', output: [], usage },
  ...beside,
})
/** Half a second of audio. */
const half = { type: 'response.output_audio.delta', ...at, delta: Buffer.alloc(24_000, 1).toString('base64') }
const transcribed = (usage: JsonObject): JsonObject => ({
  type: 'conversation.item.input_audio_transcription.completed',
  ...{ item_id: 'said', content_index: 0, transcript: 'Hello.', usage },
})

/** Opens a gateway before an upstream that plays events, and a session of a key with a budget. */
async function openPlay(
  headers: { readonly [name: string]: string },
  play: readonly JsonObject[],
  { model = 'gpt-realtime', provider = 'openai', session = {}, budget = 100 }: PlayOptions,
) {
  const script: Script = connection => {
    connection.send(created(session))
    connection.send({ ...created(session), type: 'session.updated' })
    for (const event of play) connection.send(event)
  }
  const upstream = await ScriptedUpstream.open(script)
  closing.push(() => upstream.close())
  const channel = { ...channelTo(upstream, { models: { voice: model } }), provider }
  const admin = await AdminServer.open([channel], { usage: { retention: DAY } }, { group: { budget: { day: budget } } })
  closing.push(() => admin.close())
  const caller = await Client.open(admin.testServer.server.address, headers, '/v1/realtime?model=voice')
  return { admin, caller, upstream }
}

interface PlayOptions {
  readonly last?: string
  readonly model?: string
  readonly provider?: string
  readonly session?: JsonObject
  /** Dollars per day. */
  readonly budget?: number
}

/** Plays events to a caller that hangs up after `last`, and returns the session's row. */
async function rowOf(
  headers: { readonly [name: string]: string },
  play: readonly JsonObject[],
  options: PlayOptions = {},
) {
  const { last } = options
  const { admin, caller } = await openPlay(headers, play, options)
  const awaited = last ?? String(play.at(-1)!['type'])
  await until(() => caller.events.some(({ type }) => type === awaited || type === awaited.replace('output_', '')))
  await caller.close()
  let rows: { readonly [field: string]: unknown }[] = []
  while (rows.length === 0) {
    rows = (await admin.get('/requests')).json.data
    await pause(20)
  }
  const { data } = (await admin.get('/budgets')).json
  return { row: rows[0]!, spent: data[0].day.spent as number }
}

describe.each(PATHS)('a voice session that is %s', (_, headers) => {
  it('costs the usage that xAI states beside its response', async () => {
    const { row } = await rowOf(headers, [started, ended({}, { usage: USAGE })])
    expect(row).toMatchObject({ input_tokens: 1000, output_tokens: 100, cost: expect.closeTo(RESPONSE_COST, 9) })
  })

  it('costs its transcriptions at the price of the model that transcribes', async () => {
    const { row, spent } = await rowOf(
      headers,
      [
        transcribed({
          ...{ type: 'tokens', total_tokens: 1100, input_tokens: 1000, output_tokens: 100 },
          input_token_details: { text_tokens: 0, audio_tokens: 1000 },
        }),
      ],
      { session: { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } } },
    )
    expect(row['cost']).toBeCloseTo(1000 * 6e-6 + 100 * 10e-6, 9)
    expect(spent).toBeCloseTo(row['cost'] as number, 9)
  })

  it('costs the seconds of its transcriptions if they are billed by them', async () => {
    const { row, spent } = await rowOf(headers, [transcribed({ type: 'duration', seconds: 30 })], {
      session: { audio: { input: { transcription: { model: 'whisper-1' } } } },
    })
    expect(row).toMatchObject({ cost: expect.closeTo(0.003, 9) })
    expect(row['estimated']).toBeUndefined()
    expect(spent).toBeCloseTo(0.003, 9)
  })

  it('ends after a transcription if the budget is spent, because no response need ever begin', async () => {
    const words = transcribed({ type: 'duration', seconds: 30 })
    const { caller, upstream } = await openPlay(headers, Array(5).fill(words), {
      session: { audio: { input: { transcription: { model: 'whisper-1' } } } },
      budget: 0.005,
    })
    await until(() => caller.closed !== undefined)
    const types = caller.events.map(({ type }) => type)
    expect(types.filter(type => type === words['type'])).toHaveLength(2)
    expect(caller.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } })
    expect(caller.closed).toBe(1008)
    await until(() => upstream.open === 0)
  })

  it('costs what is known, marked as an estimate, if the price of a part is unknown', async () => {
    const { row, spent } = await rowOf(headers, [started, ended(USAGE), transcribed({ type: 'duration', seconds: 3 })])
    expect(row).toMatchObject({ cost: expect.closeTo(RESPONSE_COST, 9), estimated: true })
    expect(spent).toBeCloseTo(RESPONSE_COST, 9)
  })

  it('costs an estimate of the response that its caller left', async () => {
    const { row, spent } = await rowOf(
      headers,
      [
        started,
        ended(USAGE),
        started,
        { type: 'response.output_item.added', ...at, item: { id: 'i', type: 'message', role: 'assistant' } },
        { type: 'response.content_part.added', ...at, part: { type: 'audio' } },
        half,
        half,
        { type: 'response.output_text.delta', ...at, delta: 'Twelve chars' },
      ],
      { last: 'response.output_text.delta' },
    )
    expect(row).toMatchObject({ estimated: true, output_tokens: 100 + 20 + 3, input_tokens: 1000 + 1100 })
    const left = 1100 * 4e-6 + 20 * OUT + 3 * 16e-6
    expect(row['cost']).toBeCloseTo(RESPONSE_COST + left, 9)
    expect(spent).toBeCloseTo(RESPONSE_COST + left, 9)
  })

  it.each([
    ['zero', 0],
    ['absurdly many', 4e12],
  ])('costs an estimate of a response of which the upstream states %s tokens', async (_, tokens) => {
    const usage = { total_tokens: 2 * tokens, input_tokens: tokens, output_tokens: tokens }
    const { row, spent } = await rowOf(headers, [started, half, half, ended(usage)])
    expect(row).toMatchObject({ estimated: true, output_tokens: 20, cost: expect.closeTo(20 * OUT, 9) })
    expect(spent).toBeCloseTo(20 * OUT, 9)
  })

  it('admits no response once those that their upstream does not count have spent the budget', async () => {
    const other = { type: 'response.created', response: { id: 's', status: 'in_progress', output: [] } }
    const { caller, upstream } = await openPlay(headers, [started, half, half, ended(null), other], {
      budget: 19 * OUT,
    })
    await until(() => caller.events.some(({ type }) => type === 'error'))
    expect(caller.events.find(({ type }) => type === 'error').error.code).toBe('insufficient_quota')
    const cancels = () => upstream.connections[0]!.received.filter(({ type }) => type === 'response.cancel')
    await until(() => cancels().length === 1)
    expect(cancels()[0]).toMatchObject({ response_id: 's' })
  })

  it('is exact if every response was counted', async () => {
    const { row } = await rowOf(headers, [started, half, ended(USAGE)])
    expect(row['estimated']).toBeUndefined()
    expect(row['cost']).toBeCloseTo(RESPONSE_COST, 9)
  })

  describe('of a model that is billed by its time', () => {
    const TIMED = { model: 'grok-voice-latest', provider: 'xai' }
    /** Dollars per second. */
    const SECOND = 0.08 / 60

    it('costs the time of its connection', async () => {
      const { row, spent } = await rowOf(headers, [started, half, ended({}, { usage: USAGE })], TIMED)
      const seconds = (row['duration_ms'] as number) / 1000
      expect(row['cost']).toBeGreaterThan(0)
      expect((row['cost'] as number) / (seconds * SECOND)).toBeGreaterThan(0.5)
      expect((row['cost'] as number) / (seconds * SECOND)).toBeLessThanOrEqual(1.01)
      expect(spent).toBeCloseTo(row['cost'] as number, 9)
    })

    it('costs its time although no response was made', async () => {
      const { row, spent } = await rowOf(headers, [transcribed({})], TIMED)
      expect(row['cost']).toBeGreaterThan(0)
      expect(spent).toBeCloseTo(row['cost'] as number, 9)
    })

    it('ends after a transcription if its time has spent the budget', async () => {
      const { caller } = await openPlay(headers, [transcribed({})], { ...TIMED, budget: 1e-8 })
      await until(() => caller.closed !== undefined)
      expect(caller.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } })
    })

    it('admits no response once its time has spent the budget', async () => {
      const other = { type: 'response.created', response: { id: 's', status: 'in_progress', output: [] } }
      const { caller } = await openPlay(headers, [started, ended({}, { usage: USAGE }), other], {
        ...TIMED,
        budget: 1e-8,
      })
      await until(() => caller.events.some(({ type }) => type === 'error'))
      expect(caller.events.find(({ type }) => type === 'error').error.code).toBe('insufficient_quota')
    })
  })

  it('has an unknown cost if nothing of it has a price', async () => {
    const { row } = await rowOf(headers, [started, ended(USAGE)], { model: 'nobody-knows' })
    expect(row['cost']).toBeUndefined()
    expect(row['estimated']).toBeUndefined()
  })
})

it('a session with Gemini has the exact cost of its turns, which include the transcripts', async () => {
  const upstream = await ScriptedUpstream.open(async connection => {
    await connection.until(1)
    connection.send({ setupComplete: {} })
    await connection.until(2)
    for (const frame of [inputTranscript('Hello'), spoken(2400), TURN_COMPLETE]) connection.send(frame)
  })
  closing.push(() => upstream.close())
  const channel = channelTo(upstream, { format: 'live' })
  const models = new Map([['voice', { id: 'voice', input: [], output: [], price: { input: 1, output: 2 } }]])
  const admin = await AdminServer.open([channel], { usage: { retention: DAY }, models })
  closing.push(() => admin.close())
  const caller = await Client.open(admin.testServer.server.address, {}, '/v1/realtime?model=voice')
  const transcription = { model: 'whisper-1' }
  caller.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription } } } })
  caller.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48_000, 1).toString('base64') })
  await until(() => caller.events.some(({ type }) => type === 'response.done'))
  await caller.close()
  let rows: { readonly [field: string]: unknown }[] = []
  while (rows.length === 0) {
    rows = (await admin.get('/requests')).json.data
    await pause(20)
  }
  expect(rows[0]!['estimated']).toBeUndefined()
})

describe('a voice session of separate requests', () => {
  /** Dollars per million tokens by public model: the conversation is a thousand times as dear as the speech. */
  const PRICES = { chatty: { input: 1000, output: 1000 }, mouth: { input: 1, output: 1 } }

  const delta = { choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] }
  const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } }
  const spoken = { type: 'speech.audio.delta', audio: Buffer.alloc(4800, 1).toString('base64') }
  const speechUsage = { input_tokens: 500, output_tokens: 500, total_tokens: 1000 }

  /** Opens a session whose speech ends with `done`, of a key with a budget in dollars. */
  async function openCascade(done: JsonObject, budget: number) {
    const upstream = await FakeUpstream.open((response, { url }) => {
      const events = url.endsWith('/audio/speech') ? [spoken, done] : [delta, usage]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
    })
    closing.push(() => upstream.close())
    const channels = (['chat', 'speech', 'transcriptions'] as const).map((format, index) =>
      channelAt(upstream.address, {
        ...{ format, name: format },
        models: { named: new Map([[['chatty', 'mouth', 'ears'][index]!, format]]), patterns: [] },
      }),
    )
    const models = Object.entries(PRICES).map(([id, price]) => [id, { id, input: [], output: [], price }] as const)
    const admin = await AdminServer.open(
      channels,
      {
        ...{ usage: { retention: DAY }, models: new Map(models) },
        realtime: { ...REALTIME, cascade: { transcription: 'ears', speech: 'mouth' } },
      },
      { group: { budget: { day: budget } } },
    )
    closing.push(() => admin.close())
    const caller = await Client.open(admin.testServer.server.address, {}, '/v1/realtime?model=chatty')
    const content = [{ type: 'input_text', text: 'Hi' }]
    caller.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } })
    const respond = async (): Promise<JsonObject> => {
      const ends = () => caller.events.filter(({ type }) => type === 'response.done')
      const { length } = ends()
      caller.send({ type: 'response.create', response: { max_output_tokens: 20 } })
      await until(() => ends().length > length)
      return ends().at(-1).response
    }
    const rowsOf = async (count: number) => {
      await caller.close()
      let rows: { readonly [field: string]: unknown }[] = []
      while (rows.length < count) {
        await pause(20)
        rows = (await admin.get('/requests')).json.data
      }
      return rows
    }
    return { respond, rowsOf }
  }

  it('costs each request at the prices of its own model', async () => {
    const { respond, rowsOf } = await openCascade({ type: 'speech.audio.done', usage: speechUsage }, 0.5)
    // The second response is within the budget, which speech at the price of the conversation would exceed.
    for (let count = 0; count < 2; count++) expect(await respond()).toMatchObject({ status: 'completed' })
    const rows = await rowsOf(5)
    expect(rows.reduce((sum, { cost = 0 }) => sum + (cost as number), 0)).toBeCloseTo(2 * (0.02 + 0.001), 9)
  })

  it('costs an estimate of speech that its upstream does not count, and fails beyond the budget', async () => {
    const { respond, rowsOf } = await openCascade({ type: 'speech.audio.done' }, 0.04)
    expect(await respond()).toMatchObject({ status: 'completed' })
    expect(await respond()).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'insufficient_quota' } },
    })
    const speech = (await rowsOf(4)).find(({ model }) => model === 'mouth')!
    expect(speech).toMatchObject({ estimated: true, cost: expect.closeTo(0.001, 3) })
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { channelAt, KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { WAYS } from '../builders/streams.ts'
import { until } from '../builders/time.ts'
import type { Caller, Failure } from './caller.ts'
import { CALLERS } from './callers/index.ts'
import { FORMATS, Stage, writeFrame } from './stage.ts'

const callers = CALLERS.filter(({ format }) => FORMATS.includes(format))

async function failureOf(caller: Caller, asking: Promise<unknown>): Promise<Failure> {
  const thrown = await asking.then(
    got => expect.fail(`answered: ${JSON.stringify(got)}`),
    thrown => thrown,
  )
  return caller.failure(thrown)
}

/** Errors of an upstream, and the statuses that a caller may see for each. */
const UPSTREAM_FAILURES: readonly (readonly [number, readonly number[]])[] = [
  [400, [400]],
  [401, [503]],
  [403, [503]],
  [404, [404]],
  [413, [413]],
  [422, [400, 422]],
  [429, [429]],
  [500, [500, 502]],
  [503, [503, 529]],
  [504, [504]],
  [529, [503, 529]],
]

/** Texts that the clients of each format look for. */
const OPENAI = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
const TOO_LONG: { readonly [format: string]: string } = {
  ...{ chat: OPENAI, responses: OPENAI },
  messages: 'prompt is too long: 9000 tokens > 8192 maximum',
  contents: 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
}

/** Path in the body of each format to a value that the other upstream cannot take. */
const LOST: { readonly [format: string]: string } = {
  chat: 'response_format/json_schema/name',
  responses: 'text/format/name',
  messages: 'thinking/display',
  contents: 'generationConfig/thinkingConfig/includeThoughts',
}

describe.each(callers)('$name', caller => {
  describe.each(FORMATS)('before an upstream of %s', format => {
    let stage: Stage
    beforeAll(async () => void (stage = await Stage.open(format)))
    afterAll(() => stage.close())

    describe.each(WAYS)('$way', ({ stream }) => {
      test.each(UPSTREAM_FAILURES)('meets its own error for an upstream’s %i', async (status, seen) => {
        stage.fails(status, `The upstream says ${status}.`, { 'retry-after': '0' })
        const failure = await failureOf(caller, caller.open(stage.address).say({ text: 'Hi!' }, { stream }))
        expect(seen).toContain(failure.status)
        expect(failure.name).toBe(caller.errors(failure.status!))
        const isOurs = status === 401 || status === 403
        expect(failure.message.includes(`The upstream says ${status}.`)).toBe(!isOurs)
        expect(failure.message).not.toContain('secret-channel')
      })

      test('trap 98: meets a request too long in its own words', async () => {
        stage.fails(400, 'prompt is too long: 9000 tokens > 8192 maximum')
        const failure = await failureOf(caller, caller.open(stage.address).say({ text: 'Hi!' }, { stream }))
        expect(failure.message).toContain(TOO_LONG[caller.format])
      })

      test('meets its own error where a stream breaks off', async () => {
        if (!stream) return
        const frames = stage.format.frames({ text: 'Once upon a time there was' })
        const words = frames.findIndex(frame => frame.includes('Once upon'))
        stage.does(response => {
          for (const frame of frames.slice(0, words + 1)) writeFrame(response, stage.format, frame)
          writeFrame(response, stage.format, stage.format.breakOff('The pen broke.'))
          response.end()
        })
        const failure = await failureOf(caller, caller.open(stage.address).say({ text: 'Tell me.' }, { stream }))
        expect(failure.message).toContain('The pen broke.')
      })

      test('meets its own error where a stream ends too early', async () => {
        if (!stream) return
        const frames = stage.format.frames({ text: 'Once upon a time there was' })
        const words = frames.findIndex(frame => frame.includes('Once upon'))
        stage.does(response => {
          for (const frame of frames.slice(0, words + 1)) writeFrame(response, stage.format, frame)
          response.end()
        })
        const failure = await failureOf(caller, caller.open(stage.address).say({ text: 'Tell me.' }, { stream }))
        expect(failure.message.length).toBeGreaterThan(10)
      })
    })

    test('leaves, and the upstream is let go', async () => {
      const frames = stage.format.frames({ text: 'Once upon a time there was' })
      const words = frames.findIndex(frame => frame.includes('Once upon'))
      stage.does(response => {
        for (const frame of frames.slice(0, words + 1)) writeFrame(response, stage.format, frame)
      })
      const leaving = new AbortController()
      const asking = caller
        .open(stage.address)
        .say({ text: 'Tell me.' }, { stream: true, signal: leaving.signal, onText: () => leaving.abort() })
      await expect(asking).rejects.toThrow()
      await until(() => stage.seen[0]?.brokenAt !== undefined)
    })

    test('tries again where it is told to, and gets its answer', async () => {
      let asked = 0
      stage.does(response => {
        response.setHeader('content-type', 'application/json')
        if (asked++ === 0) {
          response.writeHead(429, { 'retry-after': '0' }).end(JSON.stringify(stage.format.error(429, 'Slow down.')))
        } else response.writeHead(200).end(JSON.stringify(stage.format.whole({ text: 'Now.' })))
      })
      const got = await caller.open({ ...stage.address, retries: 2 }).say({ text: 'Hi!' }, { stream: false })
      expect(got.text).toBe('Now.')
      expect(asked).toBe(2)
    })
  })

  describe('gets an error in its own format from the endpoint', () => {
    let stage: Stage
    beforeAll(async () => void (stage = await Stage.open(caller.format)))
    afterAll(() => stage.close())

    const failing = (testServer: object, text = 'Hi!') =>
      failureOf(caller, caller.open({ ...stage.address, ...testServer }).say({ text }, { stream: false }))
    const isOf = (failure: Failure, status: number) =>
      expect(failure).toMatchObject({ status, name: caller.errors(status) })

    test('with a wrong key', async () => isOf(await failing({ key: 'wrong' }), 401))
    test('for a model that is not there', async () => isOf(await failing({ model: 'unknown' }), 404))
    test('for a body too large', async () => isOf(await failing({}, 'x'.repeat(70_000)), 413))

    test('for a loss it does not want', async () => {
      const namesSchema = ['chat', 'responses'].includes(caller.format)
      const other = await Stage.open(namesSchema ? 'messages' : 'chat')
      const testServer = { ...other.address, headers: { 'interlingua-on-loss': 'refuse' } }
      const asking = caller.open(testServer).say({ text: 'Hi!' }, { stream: false, schema: true, thinks: true })
      const failure = await failureOf(caller, asking)
      expect(other.seen).toEqual([])
      await other.close()
      isOf(failure, 422)
      expect(failure.message).toContain(LOST[caller.format])
    })

    test('for a model its key may not use', async () => {
      const testServer = await TestServer.open([channelAt('http://127.0.0.1:9')], { group: { models: ['other'] } })
      const address = { address: testServer.server.address, key: KEY }
      const failure = await failureOf(caller, caller.open(address).say({ text: 'Hi!' }, { stream: false }))
      await testServer.server.close(0)
      expect([403, 404]).toContain(failure.status)
      isOf(failure, failure.status!)
    })
  })
})

import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { generateText, isStepCount, jsonSchema, tool } from 'ai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { replay, replayEachTest, type TestReplay } from '../../../src/kit/testing/index.ts'
import { openDemo } from '../../builders/demo.ts'

/* Programs with three SDKs: recorded once with the built-in demo as provider, then replayed without it. */

type Server = Pick<TestReplay, 'key' | 'baseURL'>

/** An OpenAI SDK program. */
async function summary(server: Server, text: string): Promise<string> {
  const client = new OpenAI({ baseURL: server.baseURL('chat'), apiKey: server.key })
  const messages = [{ role: 'user' as const, content: text }]
  const stream = await client.chat.completions.create({ model: 'replay', messages, stream: true })
  let said = ''
  for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ''
  return said
}

/** An Anthropic SDK program. */
async function greeting(server: Server, text: string): Promise<string> {
  const client = new Anthropic({ baseURL: server.baseURL('messages'), apiKey: server.key })
  const messages = [{ role: 'user' as const, content: text }]
  const message = await client.messages.create({ model: 'replay', max_tokens: 100, messages })
  return message.content.map(block => (block.type === 'text' ? block.text : '')).join('')
}

/** An AI SDK agent with one tool. */
async function weather(server: Server, prompt: string): Promise<{ readonly text: string; readonly cities: string[] }> {
  const cities: string[] = []
  const get_weather = tool({
    description: 'The weather in a city now.',
    inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
    execute: ({ city }) => {
      cities.push(city)
      return { celsius: 21 }
    },
  })
  const model = createOpenAI({ baseURL: server.baseURL('responses'), apiKey: server.key })('replay')
  const { text } = await generateText({ model, prompt, tools: { get_weather }, stopWhen: isStepCount(3) })
  return { text, cities }
}

const folder = join(mkdtempSync(join(tmpdir(), 'application-')), 'recordings')
const recorded = { summary: '', greeting: '', weather: { text: '', cities: [] as string[] } }

beforeAll(async () => {
  const demo = await openDemo()
  const server = await replay(folder, { mode: 'record', upstream: demo.url, key: 'sk-provider-1234' })
  recorded.summary = await summary(server, 'Say hello.')
  recorded.greeting = await greeting(server, 'Greet me.')
  recorded.weather = await weather(server, 'How warm is it in Turin?')
  await server.close()
  await demo.close()
})

test('tests that run at the same time do not share a server', async () => {
  const [before, after] = [[] as (() => Promise<void>)[], [] as (() => Promise<void>)[]]
  const hooks = {
    beforeEach: (run: () => Promise<void>) => before.push(run),
    afterEach: (run: () => Promise<void>) => after.push(run),
  }
  replayEachTest(folder, hooks, { mode: 'replay' })
  const opened = await Promise.allSettled([before[0]!(), before[0]!()])
  expect(opened).toMatchObject([{ status: 'fulfilled' }, { reason: { message: /must each call `replay`/ } }])
  await after[0]!()
  await before[0]!()
  await after[0]!()
})

describe('recorded programs', () => {
  const server = replayEachTest(folder, { beforeEach, afterEach, afterAll }, { mode: 'replay', strict: true })

  test('the OpenAI SDK program', async () => {
    expect(recorded.summary).not.toBe('')
    expect(await summary(server, 'Say hello.')).toBe(recorded.summary)
  })

  test('the Anthropic SDK program', async () => {
    expect(recorded.greeting).not.toBe('')
    expect(await greeting(server, 'Greet me.')).toBe(recorded.greeting)
  })

  test('the Anthropic SDK program, from a recording in chat format', async () => {
    expect(await greeting(server, 'Say hello.')).toBe(recorded.summary)
  })

  test('the AI SDK agent, with its tool calls', async () => {
    expect(recorded.weather.cities).not.toEqual([])
    expect(await weather(server, 'How warm is it in Turin?')).toEqual(recorded.weather)
  })
})

test('the recordings hold no key', () => {
  const files = readFolder(folder)
  expect(files.map(({ recording }) => recording.format).sort()).toEqual(['chat', 'messages', 'responses', 'responses'])
  expect(JSON.stringify(files)).not.toContain('sk-provider')
  expect(readdirSync(folder)).toHaveLength(4)
})

/** The hooks of one test file, run by hand. */
class Hooks {
  private readonly before: (() => Promise<void>)[] = []
  private readonly after: (() => Promise<void>)[] = []
  private readonly last: (() => Promise<void>)[] = []
  readonly beforeEach = (run: () => Promise<void>) => this.before.push(run)
  readonly afterEach = (run: () => Promise<void>) => this.after.push(run)
  readonly afterAll = (run: () => Promise<void>) => this.last.push(run)

  /** Runs a test; returns the fault of its hooks. */
  async run(body: () => Promise<unknown>): Promise<Error | undefined> {
    for (const run of this.before) await run()
    await body().catch(() => {})
    return await this.faultOf(this.after)
  }

  end(): Promise<Error | undefined> {
    return this.faultOf(this.last)
  }

  private async faultOf(runs: readonly (() => Promise<void>)[]): Promise<Error | undefined> {
    for (const run of runs) {
      const fault = await run().then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      if (fault !== undefined) return fault
    }
    return undefined
  }
}

describe('replayEachTest', () => {
  test('fails the test with a changed prompt, and no other, with a diff', async () => {
    const hooks = new Hooks()
    const server = replayEachTest(folder, hooks, { mode: 'replay' })
    expect(await hooks.run(() => greeting(server, 'Greet me.'))).toBeUndefined()
    const fault = await hooks.run(() => greeting(server, 'Greet me!'))
    expect(fault?.name).toBe('UnmatchedRequests')
    expect(fault?.message).toMatch(
      /^No recording matches POST \/v1\/messages\. The nearest is messages-greet-me-[0-9a-f]{8}\.json; it differs in:\n- messages\.0\.content\.0\.text: "Greet me\."\n\+ messages\.0\.content\.0\.text: "Greet me!"$/,
    )
    expect(await hooks.run(() => greeting(server, 'Greet me.'))).toBeUndefined()
    expect(() => server.url).toThrow('runs only during a test')
  })

  test('reports recordings that no test asked for at the end, if it is strict', async () => {
    const hooks = new Hooks()
    const server = replayEachTest(folder, hooks, { mode: 'replay', strict: true })
    expect(await hooks.run(() => greeting(server, 'Greet me.'))).toBeUndefined()
    expect(await hooks.run(() => summary(server, 'Say hello.'))).toBeUndefined()
    const fault = await hooks.end()
    expect(fault?.name).toBe('UnusedRecordings')
    expect(fault?.message.split('\n').slice(1)).toEqual([
      expect.stringMatching(/^responses-/),
      expect.stringMatching(/^responses-/),
    ])
    const { beforeEach: before, afterEach: after } = hooks
    expect(() => replayEachTest(folder, { beforeEach: before, afterEach: after }, { strict: true })).toThrow('afterAll')
  })
})

describe('replay', () => {
  test('records what is missing and answers the rest from recordings', async () => {
    const demo = await openDemo()
    const into = join(mkdtempSync(join(tmpdir(), 'missing-')), 'new')
    for (let run = 0; run < 2; run++) {
      await using server = await replay(into, { mode: 'record', upstream: demo.url })
      await greeting(server, 'Greet me.')
    }
    expect(readdirSync(into)).toHaveLength(1)
    await using off = await replay(into, { mode: 'off', upstream: demo.url })
    expect(await summary(off, 'Say hello.')).toBe(recorded.summary)
    expect(readdirSync(into)).toHaveLength(1)
    await demo.close()
  })

  test('takes its mode from the environment', async () => {
    const { INTERLINGUA_RECORD, INTERLINGUA_REPLAY } = process.env
    const modeIn = async (variables: object): Promise<string> => {
      Object.assign(process.env, variables)
      const server = await replay(folder, { upstream: 'http://127.0.0.1:9' })
      await server.close()
      for (const name of Object.keys(variables)) delete process.env[name]
      return server.mode
    }
    delete process.env['INTERLINGUA_RECORD']
    delete process.env['INTERLINGUA_REPLAY']
    expect(await modeIn({})).toBe('replay')
    expect(await modeIn({ INTERLINGUA_RECORD: '1' })).toBe('record')
    expect(await modeIn({ INTERLINGUA_REPLAY: 'off' })).toBe('off')
    if (INTERLINGUA_RECORD !== undefined) process.env['INTERLINGUA_RECORD'] = INTERLINGUA_RECORD
    if (INTERLINGUA_REPLAY !== undefined) process.env['INTERLINGUA_REPLAY'] = INTERLINGUA_REPLAY
  })

  test('refuses a missing folder, a missing upstream, an unknown format, and unused recordings if it is strict', async () => {
    await expect(replay(join(folder, 'none'), { mode: 'replay' })).rejects.toThrow('there is no such folder')
    await expect(replay(folder, { mode: 'record' })).rejects.toThrow('needs the option `upstream`')
    const server = await replay(folder, { mode: 'replay', strict: true })
    expect(() => server.baseURL('other')).toThrow('There is no format other')
    expect(server.baseURL('contents')).toBe(server.url)
    await expect(server.close()).rejects.toThrow('No request asked for these recordings')
  })
})

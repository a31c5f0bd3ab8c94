import { createCipheriv, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ownerOf } from '../../../src/accounts/key-file.ts'
import type { JsonObject } from '../../../src/canonical/node.ts'
import type { Config } from '../../../src/config/index.ts'
import { channelAt, KEY, keyOf } from '../../builders/config.ts'
import { ON_FILES, storeAt } from '../../builders/engines.ts'
import { TestServer } from '../../builders/gateway.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { UPSTREAMS } from '../../clients/upstreams/index.ts'
import { asSaid } from '../../laws/completed.ts'

const OTHER = 'another-key-of-the-tests'
const DATA = mkdtempSync(join(tmpdir(), 'interlingua-compaction-'))
afterAll(() => rmSync(DATA, { recursive: true, force: true }))

/** Config fields that store everything in one folder. */
const dataIn = (dataDir: string): Pick<Config, 'dataDir' | 'store'> => ({
  dataDir,
  store: storeAt(dataDir),
})

const TALK = [
  { role: 'user', content: 'We move to Lisbon in May.' },
  { type: 'function_call', call_id: 'c1', name: 'find_flat', arguments: '{"city":"Lisbon"}' },
  { type: 'function_call_output', call_id: 'c1', output: 'Rua Augusta 7' },
  { role: 'assistant', content: 'I found Rua Augusta 7.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Who packs the books?' }] },
]

let upstream: FakeUpstream
const testServers: TestServer[] = []

beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
})
afterEach(async () => {
  for (const testServer of testServers.splice(0)) await testServer.server.close(0)
  upstream.seen.length = 0
})
afterAll(() => upstream.close())

/** Starts a gateway with an upstream of one format that always gives the same answer. */
async function open(
  format: string,
  says: string,
  dialect: JsonObject = {},
  config: Partial<Config> = {},
): Promise<TestServer> {
  const speaks = UPSTREAMS[format]!
  upstream.script = (response, { url, text }) => {
    const streams = speaks.streams(url, JSON.parse(text))
    response.writeHead(200, { 'content-type': streams ? 'text/event-stream' : 'application/json' })
    response.end(streams ? speaks.frames({ text: says }).join('') : JSON.stringify(speaks.whole({ text: says })))
  }
  const formats = [{ ...channelAt(upstream.address, { format }).formats[0]!, dialect }]
  const testServer = await TestServer.open([{ ...channelAt(upstream.address), formats }], {
    config: { ...dataIn(DATA), keys: [keyOf(KEY, 'dev'), keyOf(OTHER, 'other')], ...config },
  })
  testServers.push(testServer)
  return testServer
}

const compact = (testServer: TestServer, body: JsonObject = {}, headers: { readonly [name: string]: string } = {}) =>
  testServer.ask(
    '/v1/responses/compact',
    { model: 'm', input: TALK, instructions: 'You plan moves.', ...body },
    { headers },
  )

const LACKS = { compaction: false, stateless: true }
const FOREIGN = ['chat', 'messages', 'contents', 'responses']
const dialectOf = (format: string): JsonObject => (format === 'responses' ? LACKS : {})

describe.each(FOREIGN)('an upstream of %s that cannot compact', format => {
  it('is asked for a summary, which comes back sealed and is told again', async () => {
    const testServer = await open(format, 'Ana packs; the flat is Rua Augusta 7.', dialectOf(format))
    const answer = await compact(testServer)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f]{32}$/),
      object: 'response.compaction',
      created_at: expect.any(Number),
      output: [
        { type: 'message', role: 'user', status: 'completed', content: [{ text: 'We move to Lisbon in May.' }] },
        { type: 'message', role: 'user', status: 'completed', content: [{ text: 'Who packs the books?' }] },
        { type: 'compaction', id: expect.stringMatching(/^cmp_/), encrypted_content: expect.stringMatching(/^il1\./) },
      ],
      usage: { input_tokens: 21, output_tokens: 13, total_tokens: 34 },
    })
    expect(Object.keys(answer.json).sort()).toEqual(['created_at', 'id', 'object', 'output', 'usage'])
    expect(answer.text).not.toContain('Ana packs')
    const asked = UPSTREAMS[format]!.hear(JSON.parse(upstream.seen[0]!.text))
    expect(asked.tools).toEqual([])
    const told = asked.turns.map(turn => turn.text).join('\n')
    for (const fact of ['You plan moves.', 'find_flat', 'Rua Augusta 7', 'I found', 'Who packs the books?'])
      expect(told).toContain(fact)

    const next = await testServer.ask('/v1/responses', {
      model: 'm',
      input: [...answer.json.output, { role: 'user', content: 'So who?' }],
      max_output_tokens: 100,
    })
    expect(next.status, next.text).toBe(200)
    const heard = UPSTREAMS[format]!.hear(JSON.parse(upstream.seen[1]!.text))
    expect(heard.turns.map(turn => turn.text).join('\n')).toContain('Ana packs; the flat is Rua Augusta 7.')
    expect(upstream.seen[1]!.text).not.toContain('il1.')
    expect(next.headers['interlingua-loss']).toBeUndefined()
  })

  it('opens a seal made before a restart, and no seal of another key', async () => {
    const testServer = await open(format, 'The secret is 42.', dialectOf(format))
    const { output } = (await compact(testServer)).json
    const again = await open(format, 'Well.', dialectOf(format))
    upstream.seen.length = 0
    expect((await again.ask('/v1/responses', { model: 'm', input: output })).status).toBe(200)
    expect(upstream.seen[0]!.text).toContain('The secret is 42.')
    upstream.seen.length = 0
    const theirs = { authorization: `Bearer ${OTHER}` }
    const refused = await again.ask('/v1/responses', { model: 'm', input: output }, { headers: theirs })
    expect(refused).toMatchObject({ status: 400, json: { error: { code: 'invalid_compaction_item', param: 'input' } } })
    expect(refused.json.error.message).toContain(output.at(-1).id)
    expect(upstream.seen).toEqual([])
  })
})

/** Encrypts as every version does: nonce, ciphertext, tag. */
function sealedBefore(key: Buffer, owner: string, text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(`interlingua il1.\n${owner}`))
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
}

describe('a seal', () => {
  it('that was changed anywhere is refused before anybody is asked', async () => {
    const testServer = await open('chat', 'Short.')
    const item = (await compact(testServer)).json.output.at(-1)
    upstream.seen.length = 0
    const sealed: string = item.encrypted_content
    const places = [4, 10, sealed.length >> 1, sealed.length - 2]
    const changed = [
      ...places.map(at => `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`),
      sealed.slice(0, -8),
      `${sealed}AAAA`,
      'il1.',
    ]
    for (const encrypted_content of changed) {
      const answer = await testServer.ask('/v1/responses', { model: 'm', input: [{ ...item, encrypted_content }] })
      expect([encrypted_content, answer.status]).toEqual([encrypted_content, 400])
    }
    expect(upstream.seen).toEqual([])
  })

  it('is never the same twice, and its key is kept for its owner alone', async () => {
    const testServer = await open('chat', 'Short.')
    const one = (await compact(testServer)).json.output.at(-1).encrypted_content
    expect((await compact(testServer)).json.output.at(-1).encrypted_content).not.toBe(one)
    if (ON_FILES) expect(readdirSync(DATA)).toContain('interlingua.sqlite')
    for (const name of readdirSync(DATA)) expect(statSync(join(DATA, name)).mode & 0o777).toBe(0o600)
  })

  it('is opened by another instance of the same store, and by none of another', async () => {
    const item = (await compact(await open('chat', 'The secret is 42.'))).json.output.at(-1)
    const elsewhere = mkdtempSync(join(tmpdir(), 'interlingua-compaction-'))
    const { store } = dataIn(DATA)
    const neighbour = await open('chat', 'Well.', {}, { dataDir: elsewhere, store })
    upstream.seen.length = 0
    expect((await neighbour.ask('/v1/responses', { model: 'm', input: [item] })).status).toBe(200)
    expect(upstream.seen[0]!.text).toContain('The secret is 42.')
    const stranger = await open('chat', 'Well.', {}, dataIn(elsewhere))
    expect((await stranger.ask('/v1/responses', { model: 'm', input: [item] })).status).toBe(400)
    rmSync(elsewhere, { recursive: true })
  })

  it('of an earlier version is opened with the key it left in its folder, which stays there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'interlingua-compaction-'))
    const key = randomBytes(32)
    const sealed = `il1.${sealedBefore(key, ownerOf(keyOf(KEY, 'dev')), 'The secret is 42.').toString('base64url')}`
    const item = { type: 'compaction', id: 'cmp_1', encrypted_content: sealed }
    // Once the secret is in the store, its file is no longer read.
    for (const left of [key, randomBytes(32)]) {
      writeFileSync(join(folder, 'compaction.key'), left)
      const testServer = await open('chat', 'Well.', {}, dataIn(folder))
      upstream.seen.length = 0
      expect((await testServer.ask('/v1/responses', { model: 'm', input: [item] })).status).toBe(200)
      expect(upstream.seen[0]!.text).toContain('The secret is 42.')
      expect(readFileSync(join(folder, 'compaction.key'))).toEqual(left)
    }
    rmSync(folder, { recursive: true })
  })
})

describe('compacting', () => {
  it('is left to an upstream that can, as it was asked and answered', async () => {
    const testServer = await open('responses', '')
    const said = {
      id: 'resp_1',
      object: 'response.compaction',
      created_at: 1,
      output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAAx' }],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    }
    upstream.script = response =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    const body = { prompt_cache_options: { mode: 'implicit' }, prompt_cache_key: 'k' }
    const answer = await compact(testServer, body)
    expect(asSaid(answer.json, said)).toEqual(said)
    expect(answer.json.usage.input_tokens_details).toEqual({ cached_tokens: 0 })
    expect(upstream.seen[0]!.url).toBe('/v1/responses/compact')
    expect(JSON.parse(upstream.seen[0]!.text)).toEqual({
      model: 'm',
      input: TALK,
      instructions: 'You plan moves.',
      ...body,
    })
  })

  it('twice keeps what was said before, and no summary in the open', async () => {
    const testServer = await open('chat', 'First summary.')
    const once = (await compact(testServer)).json.output
    const twice = (await compact(testServer, { input: [...once, { role: 'user', content: 'Go on.' }] })).json.output
    expect(upstream.seen[1]!.text).toContain('First summary.')
    expect(JSON.stringify(twice)).not.toContain('First summary.')
    expect(twice.map((item: JsonObject) => item['type'])).toEqual(['message', 'message', 'message', 'compaction'])
  })

  it.each([
    [{ model: undefined }, 400, 'model'],
    [{ model: 'nobody' }, 404, 'nobody'],
    [{ input: 3 }, 400, 'input'],
    [{ input: [{ type: 'compaction', id: 'cmp_9', encrypted_content: 'gAAAAtheirs' }] }, 422, 'input/0'],
  ])('%j is answered with %i', async (body, status, told) => {
    const testServer = await open('chat', 'Short.')
    const answer = await compact(testServer, body as never)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.json.error.message).toContain(told)
    expect(upstream.seen).toEqual([])
  })

  it('another vendor’s item at the ordinary endpoint is refused too if no upstream could read it', async () => {
    const testServer = await open('messages', 'Short.')
    const input = [{ type: 'compaction', id: 'cmp_9', encrypted_content: 'gAAAAtheirs' }, ...TALK]
    expect((await testServer.ask('/v1/responses', { model: 'm', input })).status).toBe(422)
    expect(upstream.seen).toEqual([])
  })

  it('is refused where the operator says so, by the name of the model', async () => {
    const models = new Map([['m', { id: 'm', input: [], output: [], compaction: 'disabled' as const }]])
    const testServer = await open('chat', 'Short.', {}, { models })
    const answer = await compact(testServer)
    expect(answer).toMatchObject({ status: 404, json: { error: { param: 'model' } } })
    expect(answer.json.error.message).toContain('"m"')
  })

  it('fails where the model says nothing, and tells of what the upstream does not know', async () => {
    const silent = await open('chat', '')
    expect((await compact(silent)).status).toBe(502)
    const testServer = await open('chat', 'Short.')
    const answer = await compact(testServer, { image: { context_compression: 'auto' } })
    expect(answer.headers['interlingua-loss']).toBe('image only-in-responses')
    const strict = await compact(
      testServer,
      { image: { context_compression: 'auto' } },
      { 'interlingua-on-loss': 'refuse' },
    )
    expect(strict.status).toBe(422)
  })

  it('asked for by the last item of a stream is answered by a stream with one such item', async () => {
    const testServer = await open('chat', 'Sealed words.')
    const input = [...TALK, { type: 'compaction_trigger' }]
    const { text, headers } = await testServer.ask('/v1/responses', { model: 'm', input, stream: true })
    expect(headers['content-type']).toContain('text/event-stream')
    const events = text.split('\n').flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { object: 'response', status: 'completed', output: [{}, {}, { type: 'compaction' }] },
    })
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => item.type)).toEqual(['message', 'message', 'compaction'])
    expect(upstream.seen[0]!.text).not.toContain('compaction_trigger')
  })

  it('keeps the latest of the user’s messages, as many as fit', async () => {
    const testServer = await open('chat', 'Short.')
    const long = (letter: string) => ({ role: 'user', content: letter.repeat(50_000) })
    const { output } = (await compact(testServer, { input: [long('a'), long('b'), { role: 'user', content: 'c' }] }))
      .json
    expect(output.map((item: JsonObject) => item['type'])).toEqual(['message', 'message', 'compaction'])
    expect(output[0].content[0].text[0]).toBe('b')
  })

  it('keeps the user’s messages with an image, which is long in bytes only', async () => {
    const testServer = await open('chat', 'Short.')
    const image_url = `data:image/png;base64,${'A'.repeat(200_000)}`
    const seen = {
      role: 'user',
      content: [
        { type: 'input_text', text: 'b' },
        { type: 'input_image', image_url },
      ],
    }
    const { output } = (await compact(testServer, { input: [{ role: 'user', content: 'a' }, seen] })).json
    expect(output.map((item: JsonObject) => item['type'])).toEqual(['message', 'message', 'compaction'])
    expect(output[1].content).toMatchObject(seen.content)
  })
})

it('a wrong key opens nothing', async () => {
  const testServer = await open('chat', 'Short.')
  expect((await compact(testServer, {}, { authorization: `Bearer ${KEY}x` })).status).toBe(401)
})

import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config/read.ts'
import type { RecordSettings } from '../../../src/config/types.ts'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import type { Recording } from '../../../src/kit/recordings/recording.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { KEY, keyOf } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { TIMED } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'key-recordings-'))

/** A gateway whose key is recorded, in front of an upstream of chat. */
async function gatewayOf(script: Script, record: RecordSettings) {
  const upstream = await FakeUpstream.open(script)
  const { channels } = readConfig(
    `channels: [{ name: a, provider: custom, formats: [chat], base_url: "${upstream.address}/v1", key: sk-upstream-123456, models: [m] }]`,
    {},
  )
  const gateway = await TestServer.open(channels, { config: { keys: [{ ...keyOf(KEY, 'dev'), record }] } })
  let open = true
  const close = async (): Promise<void> => {
    if (open) await gateway.server.close()
    open = false
  }
  closing.push(() => upstream.close(), close)
  return { gateway, upstream, close }
}

const answer: Script = response => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }))
}

const question = (content: string, more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
})

const only = (folder: string): Recording => {
  const found = readFolder(folder)
  expect(found).toHaveLength(1)
  return found[0]!.recording
}

describe('a key with `record`', () => {
  test('is recorded in the format of its caller, without its key; a replay answers the same program', async () => {
    const folder = newFolder()
    const { gateway, close } = await gatewayOf(answer, { folder, redact: ['/secret-\\d+/'] })
    const body = question('Hi, secret-1', { max_tokens: 10 })
    const said = await gateway.ask(
      '/v1/messages',
      { ...body, metadata: { user_id: KEY } },
      { headers: { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' } },
    )
    expect(said.json).toMatchObject({ type: 'message', content: [{ text: 'Hello' }] })
    await close()
    const recording = only(folder)
    expect(recording).toMatchObject({
      ...{ format: 'messages', endpoint: '/v1/messages', redact: ['/secret-\\d+/'] },
      request: { method: 'POST', body: { json: { model: 'm', metadata: { user_id: '[redacted]' } } } },
      answer: { status: 200, complete: true, body: { json: { type: 'message', content: [{ text: 'Hello' }] } } },
    })
    const text = JSON.stringify(recording)
    for (const secret of [KEY, 'sk-upstream', 'secret-1']) expect(text).not.toContain(secret)
    const replay = await openReplay({ recordings: readFolder(folder) })
    closing.push(() => replay.close())
    const again = await fetch(`${replay.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(question('Hi, secret-22', { max_tokens: 10, metadata: { user_id: '[redacted]' } })),
    })
    expect(await again.json()).toMatchObject({ content: [{ text: 'Hello' }] })
  })

  test('has streams with their chunks and times, which pass unbuffered', async () => {
    const folder = newFolder()
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const event = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const { gateway, close } = await gatewayOf(
      async response => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(event({ role: 'assistant', content: 'Hel' }))
        await mayEnd
        response.end(`${event({ content: 'lo' })}${event({}, 'stop')}data: [DONE]\n\n`)
      },
      { folder },
    )
    const stream = await gateway.send('/v1/chat/completions', question('Hi', { stream: true })).answer
    stream.setEncoding('utf8')
    let got = ''
    for await (const piece of stream) {
      if (got === '') {
        expect(piece).toContain('"Hel"')
        expect(piece).not.toContain('"lo"')
        setTimeout(end, 30)
      }
      got += piece as string
    }
    await close()
    const { chunks = [], headers, complete } = only(folder).answer!
    expect([headers['content-type'], complete]).toEqual([expect.stringMatching(/^text\/event-stream/), true])
    expect(chunks.map(({ text }) => text).join('')).toBe(got)
    expect(chunks.at(-1)!.ms - chunks[0]!.ms).toBeGreaterThan(25)
  })

  test('is recorded with errors of the gateway, compressed bodies and forms', async () => {
    const folder = newFolder()
    const { gateway, close } = await gatewayOf(answer, { folder })
    const unknown = await gateway.ask('/v1/chat/completions', { ...question('Hi'), model: 'unknown' })
    expect(unknown.status).toBe(404)
    const body = gzipSync(JSON.stringify(question('compressed')))
    const headers = { authorization: `Bearer ${KEY}`, 'content-encoding': 'gzip', 'content-type': 'application/json' }
    const address = gateway.server.address
    const zipped = await fetch(`${address}/v1/chat/completions`, { method: 'POST', headers, body })
    expect([zipped.status, await zipped.json()]).toMatchObject([200, { choices: [{ message: { content: 'Hello' } }] }])
    const form = new FormData()
    form.append('model', 'm')
    form.append('file', new Blob(['RIFF'], { type: 'audio/wav' }), 'a.wav')
    const sound = await fetch(`${address}/v1/audio/transcriptions`, {
      ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${KEY}` } },
    })
    await sound.text()
    await close()
    expect(readFolder(folder).map(({ recording }) => [recording.answer!.status, recording.request.body])).toEqual([
      [404, { json: { ...question('Hi'), model: 'unknown' } }],
      [200, { json: question('compressed') }],
      [
        sound.status,
        { form: [{ field: 'model', text: 'm' }, expect.objectContaining({ field: 'file', text: 'RIFF' })] },
      ],
    ])
  })

  test(
    'with thousands of secrets in one request holds nobody up; the log says that it is not recorded',
    TIMED,
    async () => {
      const folder = newFolder()
      const { gateway, close } = await gatewayOf(answer, { folder })
      const headers = Object.fromEntries(
        Array.from({ length: 20_000 }, (_, i) => [`x-key-${i}`, `secret-${i}-of-a-server`]),
      )
      const before = process.cpuUsage()
      const { status } = await gateway.ask('/v1/chat/completions', question('Hi', { mcp_servers: [{ headers }] }))
      expect(status).toBe(200)
      await close()
      const { user, system } = process.cpuUsage(before)
      expect(user + system).toBeLessThan(4e6)
      expect(readdirSync(folder)).toEqual([])
      expect(gateway.lines.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('more than 250 secrets'),
      )
    },
  )

  test('is answered although nothing can be written; the log says so', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    const { gateway, close } = await gatewayOf(answer, { folder: join(file, 'below') })
    const answers = await Promise.all([1, 2, 3].map(() => gateway.ask('/v1/chat/completions', question('Hi'))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await close()
    const warned = gateway.lines.filter(({ message }) =>
      message.startsWith('cannot record POST /v1/chat/completions: ENOTDIR'),
    )
    expect(warned).toHaveLength(3)
  })

  test('is answered although a rule is invalid; nothing is recorded then', async () => {
    const folder = newFolder()
    const { gateway, close } = await gatewayOf(answer, { folder, redact: ['/(/'] })
    expect((await gateway.ask('/v1/chat/completions', question('Hi'))).status).toBe(200)
    await close()
    expect(readdirSync(folder)).toEqual([])
    expect(gateway.lines.some(({ message }) => message === 'requests of a key are not recorded')).toBe(true)
  })
})

test('the config takes a folder, or a folder with rules', () => {
  const keyWith = (record: string) =>
    readConfig(`keys: [{ name: a, key: a-long-key-of-tests, record: ${record} }]`, {}).keys[0]!.record
  expect(keyWith('recordings')).toEqual({ folder: 'recordings' })
  expect(keyWith('{ folder: recordings, redact: [user] }')).toEqual({ folder: 'recordings', redact: ['user'] })
  expect(() => keyWith('{ redact: [user] }')).toThrow('record')
})

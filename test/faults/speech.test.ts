import { describe, expect, it } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { channelAt } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { dataOf, textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { TIMED, until } from '../builders/time.ts'
import { deadAddress, type FakeUpstream, type Script } from '../builders/upstream.ts'

/* Recordings in transfer: slow readers, callers who leave, upstreams that break off. */

const ASK = { model: 'm', input: 'Hello.', voice: 'alloy' }
const PIECE = Buffer.alloc(64 * 1024, 7)

const { openGateway, openUpstream } = opener()
let upstream: FakeUpstream
let testServer: TestServer

const open = async (script: Script, ...others: ChannelConfig[]): Promise<void> => {
  upstream = await openUpstream(script)
  testServer = await openGateway([channelAt(upstream.address, { format: 'speech' }), ...others])
}

/** Sends chunks as long as they are taken, and counts them. */
function pouring(): { readonly script: Script; sent: number } {
  const flood = {
    sent: 0,
    script: ((response, { text }) => {
      response.writeHead(200, { 'content-type': text.includes('"sse"') ? 'audio/mpeg' : 'audio/wav' })
      const pour = (): void => {
        while (!response.destroyed) {
          flood.sent++
          if (!response.write(PIECE)) return void response.once('drain', pour)
        }
      }
      pour()
    }) as Script,
  }
  return flood
}

describe.each([
  ['bytes', ASK],
  ['events made of bytes', { ...ASK, stream_format: 'sse' }],
])('%s', (_, ask) => {
  it('a reader that takes nothing holds up the upstream', TIMED, async () => {
    const flood = pouring()
    await open(flood.script)
    const { answer } = testServer.send('/v1/audio/speech', ask)
    const message = await answer
    message.pause()
    await until(() => flood.sent > 3)
    await new Promise(resolve => setTimeout(resolve, 400))
    const held = flood.sent
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(flood.sent).toBe(held)
    // The buffers of two sockets and of the gateway: a few megabytes, not a recording.
    expect(held * PIECE.length).toBeLessThan(32 * 1024 * 1024)
    message.destroy()
  })

  it('a reader that comes back gets everything', async () => {
    const size = 12 * 1024 * 1024
    await open(response => {
      response.writeHead(200, { 'content-type': 'audio/wav' })
      response.end(Buffer.alloc(size, 'abc'))
    })
    const message = await testServer.send('/v1/audio/speech', ask).answer
    message.pause()
    await new Promise(resolve => setTimeout(resolve, 100))
    message.resume()
    const text = await textOf(message)
    const events = dataOf(text).map(data => JSON.parse(data))
    const audio = events.map(({ audio }) => Buffer.from(audio ?? '', 'base64'))
    expect(ask === ASK ? text.length : Buffer.concat(audio).length).toBe(size)
  })

  it('a caller that leaves frees the upstream within 100 ms', TIMED, async () => {
    const flood = pouring()
    await open(flood.script)
    const { out, answer } = testServer.send('/v1/audio/speech', ask)
    const message = await answer
    await new Promise(resolve => message.once('data', resolve))
    const left = Date.now()
    out.destroy()
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    expect(upstream.seen[0]!.brokenAt! - left).toBeLessThan(100)
    await until(() => testServer.lines.some(({ fields }) => fields['status'] === 499))
  })

  it('a caller that leaves while it is behind frees the upstream, too', TIMED, async () => {
    const flood = pouring()
    await open(flood.script)
    const { out, answer } = testServer.send('/v1/audio/speech', ask)
    ;(await answer).pause()
    await until(() => flood.sent > 3)
    await new Promise(resolve => setTimeout(resolve, 200))
    out.destroy()
    await until(() => upstream.seen[0]!.brokenAt !== undefined, 10_000)
  })
})

describe('an upstream that breaks off', () => {
  const breaking: Script = response => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' })
    response.write(PIECE.subarray(0, 1000), () => setTimeout(() => response.destroy(), 20))
  }

  it('midway: the answer is broken off, never ended as if it were whole', async () => {
    await open(breaking)
    const message = await testServer.send('/v1/audio/speech', ASK).answer
    await textOf(message)
    expect(message.complete).toBe(false)
  })

  it('midway, as events: an error event ends the stream', async () => {
    await open(breaking)
    const { status, text } = await testServer.ask('/v1/audio/speech', { ...ASK, stream_format: 'sse' })
    const events = dataOf(text).map(data => JSON.parse(data))
    expect(status).toBe(200)
    expect(events.at(-2).type).toBe('speech.audio.delta')
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } })
  })

  it('before the first byte: another channel answers', async () => {
    const second = await openUpstream(response => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      response.end('ID3 whole')
    })
    await open(
      response => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' })
        response.flushHeaders()
        setTimeout(() => response.destroy(), 20)
      },
      { ...channelAt(second.address, { format: 'speech' }), name: 'second', priority: 1 },
    )
    const { status, text } = await testServer.ask('/v1/audio/speech', ASK)
    expect([status, text]).toEqual([200, 'ID3 whole'])
    await second.close()
  })

  it('at once: the caller is told in its own shape', async () => {
    upstream = await openUpstream(() => {})
    testServer = await openGateway([channelAt(await deadAddress(), { format: 'speech' })])
    const { status, json } = await testServer.ask('/v1/audio/speech', ASK)
    expect(status).toBe(502)
    expect(json.error).toMatchObject({ type: 'upstream_error' })
  })

  it('what is no audio is an error, never handed on as a recording', async () => {
    await open(response => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html>')
    })
    expect((await testServer.ask('/v1/audio/speech', ASK)).status).toBe(502)
    upstream.script = response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'no', type: 'invalid_request_error' } }))
    }
    expect((await testServer.ask('/v1/audio/speech', ASK)).status).toBe(400)
  })
})

describe('an upstream that says it sends audio', () => {
  const SAID = JSON.stringify({ error: { message: 'no, upstream-key-1234', type: 'invalid_request_error' } })
  const declaring =
    (type: string, ...pieces: readonly (string | Buffer)[]): Script =>
    async response => {
      response.writeHead(200, { 'content-type': type })
      for (const piece of pieces) await new Promise(resolve => response.write(piece, resolve))
      response.end()
    }
  const types = ['audio/mpeg', 'audio/pcm', 'application/octet-stream']
  const asks = [ASK, { ...ASK, stream_format: 'sse' }]
  const all = types.flatMap(type => asks.map(ask => [type, ask] as const))

  it.each(all)('as %s, and sends an error, has failed: %o', async (type, ask) => {
    await open(declaring(type, SAID.slice(0, 9), SAID.slice(9)))
    const { status, text, json } = await testServer.ask('/v1/audio/speech', ask)
    expect([status, json?.error.type]).toEqual([400, 'invalid_request_error'])
    expect(text).not.toContain('upstream-key')
  })

  it.each(all)('as %s, and sends nothing, has failed: %o', async (type, ask) => {
    const second = await openUpstream(declaring('audio/mpeg', 'ID3 whole'))
    await open(declaring(type), { ...channelAt(second.address, { format: 'speech' }), name: 'second', priority: 1 })
    const { status, text } = await testServer.ask('/v1/audio/speech', ask)
    expect(status).toBe(200)
    expect(text).toContain('stream_format' in ask ? Buffer.from('ID3 whole').toString('base64') : 'ID3 whole')
  })

  it.each(['mp3', 'wav', 'pcm'])('in an answer of another format, and sends nothing, has failed: %s', async format => {
    const part = { inlineData: { mimeType: 'audio/L16;rate=24000', data: '' } }
    const said = { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] }
    upstream = await openUpstream(declaring('application/json', JSON.stringify(said)))
    testServer = await openGateway([channelAt(upstream.address, { format: 'contents', baseUrl: upstream.address })])
    expect((await testServer.ask('/v1/audio/speech', { ...ASK, response_format: format })).status).toBe(502)
  })

  it.each([
    ['short', Buffer.from('[1,2')],
    ['long', Buffer.concat([Buffer.from('{"'), Buffer.alloc(100_000, 7)])],
  ])('may begin like an error where it is none: %s', async (_, samples) => {
    await open(declaring('audio/pcm', samples.subarray(0, 2), samples.subarray(2)))
    const { status, text } = await testServer.ask('/v1/audio/speech', { ...ASK, response_format: 'pcm' })
    expect([status, text]).toEqual([200, samples.toString()])
  })
})

describe('an upstream that sends text as a recording has failed, and the next one answers', () => {
  const ERROR = JSON.stringify({ error: { message: 'busy, upstream-key-1234', type: 'server_error' } })
  const TEXTS = [
    '<!DOCTYPE html>\n<html><body>Sign in</body></html>',
    '\r\n <HTML>Bad gateway</HTML>',
    '<!-- Bad gateway -->\n<html></html>',
    '\ufeff<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>',
    `data: ${ERROR}\n\n`,
    `event: error\ndata: ${ERROR}\n\n`,
    `: processing\n\ndata: ${ERROR}\n\n`,
    `retry: 100\nid: 1\ndata: ${ERROR}\n\ndata: [DONE]\n\n`,
  ]
  const TYPES = ['audio/mpeg', 'audio/pcm', 'application/octet-stream', 'text/html', 'text/plain', undefined]
  const cases = TEXTS.flatMap(text => TYPES.map(type => [text, type] as const))

  it.each(cases)('%j as %s', async (said, type) => {
    const second = await openUpstream(response =>
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('ID3 it'),
    )
    await open(
      response => {
        response.writeHead(200, type === undefined ? {} : { 'content-type': type })
        response.write(said.slice(0, 3))
        setTimeout(() => response.end(said.slice(3)), 5)
      },
      { ...channelAt(second.address, { format: 'speech' }), name: 'second', priority: 1 },
    )
    for (const ask of [ASK, { ...ASK, response_format: 'pcm' }]) {
      const { status, text } = await testServer.ask('/v1/audio/speech', ask)
      expect([status, text]).toEqual([200, 'ID3 it'])
    }
    const streamed = await testServer.ask('/v1/audio/speech', { ...ASK, stream_format: 'sse' })
    expect([streamed.status, JSON.parse(dataOf(streamed.text)[0]!).audio]).toEqual([200, 'SUQzIGl0'])
  })

  it.each(['application/xml', 'application/xhtml+xml', 'Application/Problem+XML; charset=utf-8'])(
    'a document without a beginning of its own, as %s',
    async type => {
      await open(response =>
        response.writeHead(200, { 'content-type': type }).end('<Error><Code>SlowDown</Code></Error>'),
      )
      for (const ask of [ASK, { ...ASK, stream_format: 'sse' }])
        expect((await testServer.ask('/v1/audio/speech', ask)).status).toBe(502)
    },
  )

  it.each(['audio/mpeg', 'text/event-stream', undefined])(
    'but events that hold a recording are one, as %s',
    async type => {
      const events = [
        { type: 'speech.audio.delta', audio: 'SUQz' },
        { type: 'speech.audio.delta', audio: 'IGl0' },
        { type: 'speech.audio.done', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
      ]
      await open(response => {
        response.writeHead(200, type === undefined ? {} : { 'content-type': type })
        response.end(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
      })
      const whole = await testServer.ask('/v1/audio/speech', ASK)
      expect([whole.status, whole.text]).toEqual([200, 'ID3 it'])
      const streamed = await testServer.ask('/v1/audio/speech', { ...ASK, stream_format: 'sse' })
      expect(dataOf(streamed.text).map(data => JSON.parse(data))).toEqual(events)
    },
  )

  it('an error in an object that is called a text is the one it is', async () => {
    await open(response =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('{"error":{"type":"invalid_request_error"}}'),
    )
    expect((await testServer.ask('/v1/audio/speech', ASK)).status).toBe(400)
  })
})

describe('samples may begin like text', () => {
  const SAMPLES = [
    Buffer.from([0x3c, 0x00, 0x3c, 0x01]),
    Buffer.from('<h\x01\xff', 'latin1'),
    Buffer.from('<ht'),
    Buffer.from([0x3a, 0x00]),
    Buffer.from(':'),
    Buffer.concat([Buffer.from(':abc'), Buffer.alloc(50_000, 0x81)]),
    Buffer.from('da\0ta', 'latin1'),
    Buffer.from('\n\n\0\0', 'latin1'),
    Buffer.from('[\0', 'latin1'),
  ]
  const cases = SAMPLES.flatMap(samples =>
    ['audio/pcm', 'application/octet-stream'].map(type => [samples, type] as const),
  )

  it.each(cases)('%o as %s', async (samples, type) => {
    await open(response => {
      response.writeHead(200, { 'content-type': type })
      response.write(samples.subarray(0, 1))
      setTimeout(() => response.end(samples.subarray(1)), 5)
    })
    const message = await testServer.send('/v1/audio/speech', { ...ASK, response_format: 'pcm' }).answer
    expect([message.statusCode, Buffer.concat(await message.toArray())]).toEqual([200, samples])
    const asked = { ...ASK, response_format: 'pcm', stream_format: 'sse' }
    const { text } = await testServer.ask('/v1/audio/speech', asked)
    const audio = dataOf(text).map(data => Buffer.from(JSON.parse(data).audio ?? '', 'base64'))
    expect(Buffer.concat(audio)).toEqual(samples)
  })
})

describe('events are made of bytes as they come', () => {
  it('the first goes out before the upstream has said the last', async () => {
    let finish = (): void => {}
    await open(response => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' })
      response.write(Buffer.from('abcd'))
      finish = () => response.end(Buffer.from('ef'))
    })
    const message = await testServer.send('/v1/audio/speech', { ...ASK, stream_format: 'sse' }).answer
    const first = await new Promise<string>(resolve => message.once('data', data => resolve(String(data))))
    expect(JSON.parse(dataOf(first)[0]!)).toEqual({ type: 'speech.audio.delta', audio: 'YWJj' })
    finish()
    const rest = dataOf(await textOf(message)).map(data => JSON.parse(data))
    const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 }
    expect(rest).toEqual([
      { type: 'speech.audio.delta', audio: 'ZGVm' },
      { type: 'speech.audio.done', usage },
    ])
  })

  it('a contents caller gets samples piece by piece, too', async () => {
    let finish = (): void => {}
    await open(response => {
      response.writeHead(200, { 'content-type': 'audio/pcm' })
      response.write(Buffer.from('abcd'))
      finish = () => response.end(Buffer.from('ef'))
    })
    const ask = {
      contents: [{ role: 'user', parts: [{ text: 'Hello.' }] }],
      generationConfig: { responseModalities: ['AUDIO'] },
    }
    const message = await testServer.send('/v1beta/models/m:streamGenerateContent?alt=sse', ask).answer
    const first = await new Promise<string>(resolve => message.once('data', data => resolve(String(data))))
    const dataIn = (event: string) => JSON.parse(event).candidates[0].content?.parts[0].inlineData?.data
    expect(dataIn(dataOf(first)[0]!)).toBe('YWJj')
    finish()
    expect(dataOf(await textOf(message)).map(dataIn)).toEqual(['ZGVm', undefined])
    expect(JSON.parse(upstream.seen[0]!.text)).toMatchObject({ input: 'Hello.', response_format: 'pcm' })
  })
})

it.each([
  ['wav', Buffer.from('ID3 and more'), 'audio/mpeg', true],
  ['mp3', Buffer.from('OggS and more'), 'audio/ogg', true],
  ['mp3', Buffer.from('ID3 and more'), 'audio/mpeg', false],
  ['pcm', PIECE, 'audio/pcm', false],
] as const)(
  'asked for %s, mere bytes are called what they begin like',
  TIMED,
  async (response_format, bytes, type, lost) => {
    await open(response => response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes))
    const { answer } = testServer.send('/v1/audio/speech', { ...ASK, response_format })
    const message = await answer
    const said = message.headers['interlingua-loss']?.includes('other-container') === true
    expect([message.statusCode, message.headers['content-type'], said]).toEqual([200, type, lost])
    expect(Buffer.concat(await message.toArray())).toEqual(bytes)
  },
)

it('the upstream of mere bytes is let go when their reader leaves', TIMED, async () => {
  let gone = false
  await open(response => {
    response.on('close', () => {
      gone = true
    })
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).write(PIECE)
  })
  const message = await testServer.send('/v1/audio/speech', ASK).answer
  message.destroy()
  await until(() => gone)
})

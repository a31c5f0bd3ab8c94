import { createGzip, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../../src/canonical/error.ts'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { forwardable } from '../../../src/upstreams/channel/headers.ts'
import { Channel, type Exchange } from '../../../src/upstreams/channel/index.ts'
import { channelAt } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { TIMED, until } from '../../builders/time.ts'
import { deadAddress, type Script } from '../../builders/upstream.ts'

const { closing, openUpstream } = opener()

const WIRE = { path: '/chat/completions', query: {}, headers: {}, body: { model: 'm', text: 'grüße' } }

async function open(script: Script, fields: Partial<ChannelConfig> = {}) {
  const upstream = await openUpstream(script)
  const channel = new Channel(channelAt(upstream.address, fields))
  closing.push(() => channel.destroy())
  const send = (wire: typeof WIRE = WIRE, from = {}) => channel.send({ format: channel.config.formats[0]!, wire, from })
  return { upstream, channel, send }
}

/** Collects the chunks of a body and the error or end that follows. */
async function taken(exchange: Exchange): Promise<{ texts: string[]; ended: GatewayError | 'ended' }> {
  const answer = await exchange.answer
  const texts: string[] = []
  const ended = await new Promise<GatewayError | 'ended'>(resolve =>
    answer.pipeTo({
      onData: bytes => texts.push(Buffer.from(bytes).toString()),
      onEnd: () => resolve('ended'),
      onError: resolve,
    }),
  )
  return { texts, ended }
}

const kindOf = async (promise: Promise<unknown>) => {
  const thrown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return thrown instanceof GatewayError ? thrown.error.kind : thrown
}

describe('sending', () => {
  test("carries the channel's credential and headers, and none of the caller's own", async () => {
    const { upstream, channel, send } = await open(response => response.end('{}'), {
      allowHeaders: ['x-session', 'authorization', 'cookie'],
    })
    const from = { authorization: 'Bearer caller', cookie: 'a=b', 'x-session': 's', 'x-other': 'o' }
    await (await send({ ...WIRE, query: { 'api-version': '1' } as never }, from).answer).text(100)
    const seen = upstream.seen[0]!
    expect(seen.url).toBe('/v1/chat/completions?api-version=1')
    expect(JSON.parse(seen.text)).toEqual(WIRE.body)
    expect(seen.headers).toMatchObject({
      authorization: 'Bearer upstream-key-1234',
      'x-session': 's',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    })
    expect(seen.headers.cookie).toBeUndefined()
    expect(seen.headers['x-other']).toBeUndefined()
    expect(channel.health.inFlight).toBe(0)
  })

  test('sends a header of the config instead of that of the key, as its operator wrote it', async () => {
    const { channel, upstream, send } = await open(response => response.end('{}'))
    const [format] = channel.config.formats
    Object.assign(format!, { headers: { authorization: 'Token other' } })
    await (await send().answer).text(100)
    expect(upstream.seen[0]!.headers.authorization).toBe('Token other')
  })

  test("trap 79: passes on the betas the channel takes and no others'", async () => {
    const { upstream, send } = await open(response => response.end('{}'), { betas: ['one'] })
    const wire = { ...WIRE, headers: { 'anthropic-beta': 'one, two', 'anthropic-version': '2023-06-01' } }
    await send(wire).answer
    expect(upstream.seen[0]!.headers['anthropic-beta']).toBe('one')
    expect(upstream.seen[0]!.headers['anthropic-version']).toBe('2023-06-01')
  })
})

describe('the answer', () => {
  test('comes whenever it is asked for, all that arrived until then as one piece', async () => {
    const { send } = await open(response => {
      response.write('one')
      setTimeout(() => response.end('two'), 20)
    })
    const exchange = send()
    await exchange.answer
    await new Promise(resolve => setTimeout(resolve, 60))
    expect(await taken(exchange)).toEqual({ texts: ['onetwo'], ended: 'ended' })
  })

  test('comes in pieces as it arrives; the chunks behind the first of one read are one piece', async () => {
    let sendRest = (): void => {}
    const { send } = await open(response => {
      response.write('one')
      sendRest = () => {
        response.socket!.cork()
        for (const text of ['two', 'three', 'four']) response.write(text)
        response.end()
        response.socket!.uncork()
      }
    })
    const exchange = send()
    await exchange.answer
    const all = taken(exchange)
    sendRest()
    expect(await all).toEqual({ texts: ['one', 'two', 'threefour'], ended: 'ended' })
  })

  test('is unpacked where the upstream packs it unasked', async () => {
    const { send } = await open(response => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('{"a":"grüße"}'))
    })
    expect(await (await send().answer).text(1000)).toBe('{"a":"grüße"}')
  })

  test('has a largest size', async () => {
    const { channel, send } = await open(response => response.end('x'.repeat(1_000_000)))
    expect(await kindOf((await send().answer).text(1000))).toBe('upstream-failed')
    expect(channel.health.inFlight).toBe(0)
  })

  test('has a largest size when it is packed, too, and comes small', async () => {
    const { send } = await open(response =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(4 * 1024 * 1024))),
    )
    expect(await kindOf((await send().answer).text(1024 * 1024))).toBe('upstream-failed')
  })

  test('is not kept where nobody reads it', async () => {
    const piece = Buffer.alloc(1024 * 1024)
    const { send } = await open(response => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', more)
      more()
    })
    const exchange = send()
    await exchange.answer
    const before = process.memoryUsage().arrayBuffers
    exchange.discardRest()
    await new Promise(resolve => setTimeout(resolve, 1000))
    // A leak would hold gigabytes. Garbage that is not collected yet holds a fraction of one.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(400 * 1024 * 1024)
  })

  test('is a redirect where the upstream redirects', async () => {
    const { upstream, send } = await open(response => response.writeHead(302, { location: '/elsewhere' }).end())
    expect((await send().answer).status).toBe(302)
    expect(upstream.seen).toHaveLength(1)
  })
})

describe('failures', () => {
  test('an upstream that is not there', async () => {
    const channel = new Channel(channelAt(await deadAddress()))
    closing.push(() => channel.destroy())
    expect(await kindOf(channel.send({ format: channel.config.formats[0]!, wire: WIRE }).answer)).toBe('unreachable')
    expect(channel.health.inFlight).toBe(0)
  })

  test('a slow first byte and a silence', async () => {
    const slow = await open(() => {}, { timeout: { connect: 10_000, firstByte: 100, idle: 100 } })
    expect(await kindOf(slow.send().answer)).toBe('timed-out')
    const silent = await open(response => void response.write('one'), {
      timeout: { connect: 10_000, firstByte: 10_000, idle: 100 },
    })
    const { ended } = await taken(silent.send())
    expect(ended).toMatchObject({ error: { kind: 'timed-out' } })
  })

  test('a whole answer is waited for longer than the head of a stream', async () => {
    const timeout = { connect: 10_000, firstByte: 100, whole: 30_000, idle: 30_000 }
    const late = await open(response => void setTimeout(() => response.end('{}'), 2000), { timeout })
    const format = late.channel.config.formats[0]!
    expect(await kindOf(late.channel.send({ format, wire: WIRE, stream: true }).answer)).toBe('timed-out')
    expect((await late.channel.send({ format, wire: WIRE, stream: false }).answer).status).toBe(200)
  })

  test('a list is waited for at most a minute, however long a model may think', async () => {
    const waiting = (firstByte: number) => open(() => {}, { timeout: { connect: 10_000, firstByte, idle: 30_000 } })
    expect((await waiting(600_000)).channel.setupTimeout).toBe(60_000)
    const { channel } = await waiting(100)
    expect(
      await kindOf(channel.call('GET', channel.config.formats[0]!, { path: '/models', query: {}, headers: {} }).answer),
    ).toBe('timed-out')
  })

  test('a reset before and within the answer', async () => {
    const early = await open(response => response.destroy())
    expect(await kindOf(early.send().answer)).toBe('unreachable')
    const late = await open(response => {
      response.write('one')
      setTimeout(() => response.destroy(), 20)
    })
    expect(await taken(late.send())).toMatchObject({ texts: ['one'], ended: { error: { kind: 'upstream-failed' } } })
  })

  test('name no address', async () => {
    const address = await deadAddress()
    const channel = new Channel(channelAt(address))
    closing.push(() => channel.destroy())
    const thrown = await channel
      .send({ format: channel.config.formats[0]!, wire: WIRE })
      .answer.catch((thrown: GatewayError) => thrown)
    expect((thrown as GatewayError).error.message).not.toContain('127.0.0.1')
  })

  test('an abort reaches the upstream within 100 ms', TIMED, async () => {
    const { upstream, channel, send } = await open(response => void response.write('one'))
    const exchange = send()
    const ending = taken(exchange)
    await until(() => upstream.seen.length === 1)
    await new Promise(resolve => setTimeout(resolve, 20))
    const at = Date.now()
    exchange.abort()
    expect((await ending).ended).toMatchObject({ error: { kind: 'cancelled' } })
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    expect(upstream.seen[0]!.brokenAt! - at).toBeLessThan(100)
    expect(channel.health.inFlight).toBe(0)
  })

  test('an abort before the connection stands', async () => {
    const { upstream, send } = await open(response => response.end('{}'))
    const exchange = send()
    exchange.abort()
    expect(await kindOf(exchange.answer)).toBe('cancelled')
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(upstream.seen.filter(seen => seen.brokenAt === undefined)).toEqual([])
  })
})

/**
 * Returns the part that a consumer which pauses at the first chunk has received by then, and everything that it
 * receives after resuming.
 */
async function takenWithAPause(exchange: Exchange): Promise<{ early: number; rest(): Promise<number> }> {
  const answer = await exchange.answer
  let size = 0
  let ended = false
  answer.pipeTo({
    onData: bytes => {
      if (size === 0) exchange.pause()
      size += bytes.length
    },
    onEnd: () => (ended = true),
    onError: () => {},
  })
  await new Promise(resolve => setTimeout(resolve, 300))
  const rest = async (): Promise<number> => {
    exchange.resume()
    await until(() => ended)
    return size
  }
  return { early: size, rest }
}

describe('a consumer that pauses', () => {
  test('holds up the upstream', async () => {
    let written = 0
    const { send } = await open(response => {
      const piece = Buffer.alloc(64 * 1024)
      const more = (): void => {
        while (written < 64e6) {
          written += piece.length
          if (!response.write(piece)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    const { early, rest } = await takenWithAPause(send())
    expect(early).toBeLessThan(1e6)
    expect(written).toBeLessThan(32e6)
    expect(await rest()).toBe(written)
  })

  test('has what is packed unpacked no faster than it takes it', async () => {
    const whole = 64 * 1024 * 1024
    const { send } = await open(response => {
      const gzip = createGzip()
      gzip.pipe(response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }))
      for (let size = 0; size < whole; size += 1024 * 1024) gzip.write(Buffer.alloc(1024 * 1024))
      gzip.end()
    })
    const { early, rest } = await takenWithAPause(send())
    expect(early).toBeLessThan(4 * 1024 * 1024)
    expect(await rest()).toBe(whole)
  })
})

test('trap 78: only what is left of the limits is forwarded', () => {
  expect(
    forwardable({
      'x-ratelimit-remaining-tokens': '5',
      'anthropic-ratelimit-requests-limit': ['7'],
      'set-cookie': ['a=b'],
      server: 'x',
      'openai-organization': 'org',
    }),
  ).toEqual({ 'x-ratelimit-remaining-tokens': '5', 'anthropic-ratelimit-requests-limit': '7' })
})

import { generateKeyPairSync } from 'node:crypto'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { GatewayError } from '../../../src/canonical/error.ts'
import type { Json } from '../../../src/canonical/node.ts'
import type { ChannelAuth } from '../../../src/config/auth.ts'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { readConfig } from '../../../src/config/read.ts'
import { SharedTokens } from '../../../src/gateway/shared-tokens.ts'
import type { Cluster } from '../../../src/store/cluster/cluster.ts'
import { Channel } from '../../../src/upstreams/channel/index.ts'
import { AccessToken, type Token, type TokenSource } from '../../../src/upstreams/credentials/access-token.ts'
import { AwsSigner } from '../../../src/upstreams/credentials/aws.ts'
import { credentialOf, type TokenRequestMessage, tokenSourceOf } from '../../../src/upstreams/credentials/index.ts'
import { PrimaryTokens } from '../../../src/upstreams/credentials/primary-tokens.ts'
import { ACCESS, SECRET } from '../../builders/clouds/aws.ts'
import { signatureFault } from '../../builders/clouds/sigv4-verifier.ts'
import { configOf } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'

/*
 * Token servers that answer slowly, without end, or with tokens of impossible lifetimes; refusals that arrive late;
 * callers that leave while a token is awaited; and fields that are repeated or contradict each other.
 */

const { closing, openUpstream, openGateway } = opener()
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const SCOPE = 'https://ai.azure.com/.default'
const authAt = (authority: string): ChannelAuth => ({
  ...{ type: 'azure-client', tenant: 't', clientId: 'app', clientSecret: 'entra-secret-1', authority, scope: SCOPE },
})

const failure = async (source: () => Promise<unknown>): Promise<GatewayError['error']> =>
  source().then(
    () => expect.fail('a token'),
    (thrown: GatewayError) => thrown.error,
  )

const saying =
  (body: string): Script =>
  response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(body)
  }

/** A token server that numbers its tokens. */
const numbering = (): Script => {
  let count = 0
  return response => response.end(JSON.stringify({ access_token: `token-${++count}`, expires_in: 3600 }))
}

describe('a token server that does not end', () => {
  test('its answer byte by byte is left at the deadline, not at the next silence', async () => {
    const deadline = new AbortController()
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation(milliseconds => {
      limits.push(milliseconds)
      return deadline.signal
    })
    let sent = 0
    let isClosed = false
    const server = await openUpstream(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' ') && sent++, 5)
      response.on('close', () => {
        clearInterval(timer)
        isClosed = true
      })
    })
    const asked = failure(tokenSourceOf(authAt(server.address), undefined))
    await until(() => sent > 10)
    deadline.abort(new DOMException('late', 'TimeoutError'))
    expect(await asked).toMatchObject({ kind: 'upstream-account', message: 'Microsoft Entra did not answer in time.' })
    expect(limits).toEqual([10_000])
    await until(() => isClosed)
  })

  test('its headers is left after a few of them', async () => {
    let written = 0
    const sockets = new Set<Socket>()
    const server = createServer(socket => {
      sockets.add(socket.on('error', () => {}))
      socket.write('HTTP/1.1 200 Fine\r\n')
      const more = (): void => {
        while (!socket.destroyed) {
          written += 1000
          if (!socket.write(`x-${written}: ${'a'.repeat(980)}\r\n`)) break
        }
      }
      socket.on('drain', more)
      more()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { kind, message } = await failure(tokenSourceOf(authAt(authority), undefined))
    expect([kind, message]).toEqual([
      'upstream-account',
      expect.stringMatching(/^The request to Microsoft Entra failed/),
    ])
    expect(written).toBeLessThan(10_000_000)
  })

  test('its silence holds no request for ever, and the next request asks again', async () => {
    vi.useFakeTimers()
    const asked: PromiseWithResolvers<Token>[] = []
    const token = new AccessToken(() => {
      const one = Promise.withResolvers<Token>()
      asked.push(one)
      return one.promise
    })
    const ended: string[] = []
    const waiting = [token.ready(), token.ready()].map(one => one!.catch((thrown: Error) => ended.push(thrown.message)))
    await vi.advanceTimersByTimeAsync(600_000)
    await Promise.all(waiting)
    expect(ended).toEqual(Array(2).fill('The token did not arrive in time.'))
    const again = token.ready()
    expect(asked).toHaveLength(2)
    asked[1]!.resolve({ text: 'second', from: 0, until: Date.now() / 1000 + 3600 })
    await again
    asked[0]!.resolve({ text: 'first', from: 0, until: Date.now() / 1000 + 3600 })
    await vi.advanceTimersByTimeAsync(1)
    expect(token.text).toBe('second')
  })
})

describe('the lifetime of a token', () => {
  test.each<[string, string]>([
    ['without end', '1e400'],
    ['of many years', '1e300'],
    ['of a text without end', '"Infinity"'],
    ['of a century', '3155760000'],
  ])('%s is at most a day', async (_, lifetime) => {
    const server = await openUpstream(saying(`{"access_token":"t","expires_in":${lifetime}}`))
    let now = Date.now()
    let asked = 0
    const source = tokenSourceOf(authAt(server.address), undefined)
    const token = new AccessToken(
      () => {
        asked++
        return source()
      },
      undefined,
      () => now,
    )
    await token.ready()
    expect(token.ready()).toBeUndefined()
    now += 86_400_000
    const renewed = token.ready()
    expect(renewed).toBeInstanceOf(Promise)
    await renewed
    expect(asked).toBe(2)
  })

  test('that is no number ends as well, whatever library stated it', async () => {
    let now = Date.now()
    let asked = 0
    const source: TokenSource = async () => ({ text: `token-${++asked}`, from: 0, until: Number.NaN })
    const token = new AccessToken(source, undefined, () => now)
    await token.ready()
    expect(token.ready()).toBeUndefined()
    now += 86_400_000
    await token.ready()
    expect(token.text).toBe('token-2')
  })

  test('that has ended at once costs one token per request and never more', async () => {
    let asked = 0
    const now = Date.now()
    const token = new AccessToken(
      async () => ({ text: `token-${++asked}`, from: 0, until: now / 1000 }),
      undefined,
      () => now,
    )
    await Promise.all(Array.from({ length: 100 }, () => token.ready()))
    expect(asked).toBe(1)
    for (let request = 0; request < 10; request++) await token.ready()
    expect(asked).toBe(11)
  })
})

describe('the answer of a token server', () => {
  test.each<[string, string, string]>([
    ['a token twice', '{"access_token":"first","access_token":"second","expires_in":60}', 'second'],
    ['two lifetimes', '{"access_token":"t","expires_in":60,"expires_on":"1"}', 't'],
    ['no lifetime but null', '{"access_token":"t","expires_in":null}', 't'],
    ['an error beside a token', '{"access_token":"t","error":"invalid_client","expires_in":60}', 't'],
  ])('with %s has one meaning', async (_, body, text) => {
    const server = await openUpstream(saying(body))
    const token = await tokenSourceOf(authAt(server.address), undefined)()
    expect(token.text).toBe(text)
    expect(token.until).toBeGreaterThan(Date.now() / 1000)
  })

  test.each<[string, string]>([
    ['a token of the prototype', '{"__proto__":{"access_token":"t"},"expires_in":60}'],
    ['a list of tokens', '{"access_token":["t"],"expires_in":60}'],
    ['a token and then none', '{"access_token":"t","access_token":"","expires_in":60}'],
    ['a list of answers', '[{"access_token":"t"}]'],
  ])('with %s is none', async (_, body) => {
    const server = await openUpstream(saying(body))
    const { message } = await failure(tokenSourceOf(authAt(server.address), undefined))
    expect(message).toBe('Microsoft Entra answered without a token.')
  })

  test('with two lengths that differ is none', async () => {
    const body = '{"access_token":"t"}'
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 Fine\r\ncontent-length: 5\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      )
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const authority = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await failure(tokenSourceOf(authAt(authority), undefined))).toMatchObject({ kind: 'upstream-account' })
  })
})

describe('an address that is none', () => {
  const AUTHS: readonly ChannelAuth[] = [
    authAt('login.microsoftonline.com'),
    { type: 'google-metadata', host: 'a b' },
    { type: 'azure-managed', endpoint: { url: 'no address' }, scope: SCOPE },
    { type: 'google-service-account', account: { email: 'e', privateKey: pem(), tokenUrl: 'data:,x' } },
  ]

  test.each(AUTHS.map(auth => [auth.type, auth] as const))('of %s is a fault of the account', async (_, auth) => {
    const { kind, message } = await failure(() => new AccessToken(tokenSourceOf(auth, undefined)).ready()!)
    expect([kind, message]).toEqual(['upstream-account', expect.stringContaining('failed')])
  })

  test('leaves the other channels of a model in use', async () => {
    const upstream = await openUpstream(answering)
    const broken = azureChannel('broken', upstream.address, 'login.microsoftonline.com')
    const [channel] = readConfig(
      `channels: [{ name: working, provider: custom, formats: [chat], base_url: "${upstream.address}/v1", key: k, models: [m], priority: -1 }]`,
      {},
    ).channels
    const gateway = await openGateway([broken, channel!])
    expect((await gateway.ask('/v1/chat/completions', REQUEST)).status).toBe(200)
  })
})

function pem(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
}

const REQUEST = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const ANSWER = {
  ...{ id: 'a', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
}

const answering: Script = response => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(ANSWER))
}

const refusing: Script = response => {
  response.writeHead(401, { 'content-type': 'application/json' })
  response.end('{"error":{"message":"expired"}}')
}

function azureChannel(name: string, address: string, authority: string, format = 'chat'): ChannelConfig {
  const auth = `{ type: azure-client, tenant: t, client_id: app, client_secret: entra-secret-1, authority: "${authority}", scope: s }`
  const text = `channels: [{ name: ${name}, provider: custom, formats: [${format}], base_url: "${address}/v1", models: [m], auth: ${auth} }]`
  return readConfig(text, {}).channels[0]!
}

const bearers = (seen: readonly { readonly headers: { readonly authorization?: string | undefined } }[]): string[] =>
  seen.map(({ headers }) => headers.authorization ?? '')

describe('refusals of a token', () => {
  test('that arrive late do not cost the token that another request got meanwhile', async () => {
    const tokens = await openUpstream(numbering())
    const held: (() => void)[] = []
    const upstream = await openUpstream((response, seen) => {
      if (seen.headers.authorization === 'Bearer token-1') held.push(() => refusing(response, seen))
      else answering(response, seen)
    })
    const gateway = await openGateway([azureChannel('c', upstream.address, tokens.address)])
    const ask = () => gateway.ask('/v1/chat/completions', REQUEST)
    const first = [ask(), ask(), ask(), ask()]
    await until(() => held.length === 4)
    for (const refuse of held) {
      refuse()
      await until(
        () => gateway.lines.filter(({ message }) => message === 'a channel failed').length === held.indexOf(refuse) + 1,
      )
      expect((await ask()).status).toBe(200)
    }
    await Promise.all(first)
    expect(bearers(upstream.seen)).toEqual([...Array(4).fill('Bearer token-1'), ...Array(4).fill('Bearer token-2')])
    expect(tokens.seen).toHaveLength(2)
  })

  test('of a poll, a list of models or a download discard it too', async () => {
    const tokens = await openUpstream(numbering())
    const upstream = await openUpstream(refusing)
    const config = azureChannel('c', upstream.address, tokens.address)
    const channel = new Channel(config)
    closing.push(() => channel.destroy())
    for (let count = 0; count < 2; count++) {
      await channel.ready()
      const { status } = await channel.call('GET', config.formats[0]!, { path: '/models', query: {}, headers: {} })
        .answer
      expect(status).toBe(401)
    }
    expect(bearers(upstream.seen)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  test('reach the process that hands out the tokens, which never hands out a refused one again', async () => {
    const tokens = await openUpstream(numbering())
    const primary = new PrimaryTokens()
    const cluster = {
      isWorker: true,
      ask: async (_: string, message: Json) =>
        (await primary.answer(JSON.parse(JSON.stringify(message)) as TokenRequestMessage)) as unknown as Json,
    } as Partial<Cluster> as Cluster
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const config = azureChannel('c', 'http://127.0.0.1:1', tokens.address)
    const [one, other] = [1, 2].map(() => credentialOf(config, new SharedTokens(log, cluster))!)
    await Promise.all([one!.ready(), other!.ready()])
    expect([one!.token, other!.token]).toEqual(['token-1', 'token-1'])
    one!.refused('token-1')
    await one!.ready()
    expect(one!.token).toBe('token-2')
    other!.refused('token-1')
    await other!.ready()
    expect(other!.token).toBe('token-2')
    expect(tokens.seen).toHaveLength(2)
  })

  test('by a server that issues none reach it from the primary alone, with its reason', async () => {
    const tokens = await openUpstream(response => {
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":"temporarily_unavailable"}')
    })
    const primary = new PrimaryTokens()
    const ask: Cluster['ask'] = async (_, message) =>
      (await primary.answer(message as unknown as TokenRequestMessage)) as unknown as Json
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const config = azureChannel('c', 'http://127.0.0.1:1', tokens.address)
    const workers = Array.from({ length: 4 }, () =>
      credentialOf(config, new SharedTokens(log, { isWorker: true, ask } as Partial<Cluster> as Cluster)),
    )
    for (const worker of workers)
      await expect(worker!.ready()).rejects.toMatchObject({
        error: {
          kind: 'upstream-account',
          message: 'Microsoft Entra answered 503: temporarily_unavailable.',
          retryAfterSeconds: 5,
        },
      })
    expect(tokens.seen).toHaveLength(1)
  })

  test.each<[string, Partial<Cluster>]>([
    ['a single process', { isWorker: false }],
    ['a worker whose primary does not answer', { isWorker: true, ask: () => Promise.reject(new Error('no answer')) }],
  ])('reach the source of %s, which may have a cache of its own', async (_, cluster) => {
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const known: (string | undefined)[] = []
    const source: TokenSource = async refused => {
      known.push(refused)
      return { text: `token-${known.length}`, from: 0, until: Date.now() / 1000 + 3600 }
    }
    const sharing = new SharedTokens(log, cluster as Cluster)
    const token = new AccessToken(refused => sharing.share(authAt('https://a'), undefined, source, refused))
    await token.ready()
    token.refused('token-1')
    await token.ready()
    expect(known).toEqual([undefined, 'token-1'])
  })

  test('also empty the cache of a library', async () => {
    let issued = 0
    const server = await openUpstream((response, { url }) => {
      response.setHeader('metadata-flavor', 'Google').setHeader('content-type', 'application/json')
      const isToken = url.includes('/token')
      response.end(isToken ? JSON.stringify({ access_token: `ya29.${++issued}`, expires_in: 3600 }) : '{}')
    })
    vi.stubEnv('GCE_METADATA_HOST', new URL(server.address).host)
    vi.stubEnv('HOME', '/nowhere')
    vi.stubEnv('CLOUDSDK_CONFIG', '/nowhere')
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '')
    try {
      const token = new AccessToken(tokenSourceOf({ type: 'google-default' }, undefined))
      await token.ready()
      const first = token.text
      token.refused(first)
      await token.ready()
      expect(token.text).not.toBe(first)
    } finally {
      vi.unstubAllEnvs()
    }
  })
})

describe('while a token is awaited', () => {
  /** A token server that answers when it is told to, in front of an upstream. */
  async function waiting(format = 'chat') {
    let give = (): void => {}
    const given = new Promise<void>(resolve => (give = resolve))
    const tokens = await openUpstream(async (response, seen) => {
      await given
      numbering()(response, seen)
    })
    const upstream = await openUpstream(answering)
    const channel = azureChannel('c', upstream.address, tokens.address, format)
    return { give, tokens, upstream, channel }
  }

  const posts = (seen: readonly { readonly method: string }[]) => seen.filter(({ method }) => method === 'POST')

  test('a key that is taken away sends nothing to the upstream', async () => {
    const { give, tokens, upstream, channel } = await waiting()
    const gateway = await openGateway([channel])
    const asked = gateway.ask('/v1/chat/completions', REQUEST)
    await until(() => tokens.seen.length === 1)
    gateway.server.reload(configOf([channel], { config: { keys: [] } }))
    expect((await asked).status).toBe(401)
    give()
    await until(() => gateway.lines.some(({ message }) => message === 'request'))
    await new Promise(setImmediate)
    expect(posts(upstream.seen)).toEqual([])
  })

  test('a caller that leaves gives back its slot at once', async () => {
    const { tokens, channel } = await waiting()
    const gateway = await openGateway([channel], { group: { concurrent: 1 } })
    const { out } = gateway.send('/v1/chat/completions', REQUEST)
    out.on('error', () => {})
    await until(() => tokens.seen.length === 1)
    out.destroy()
    await until(() => gateway.lines.some(({ message }) => message === 'request'))
    const next = gateway.send('/v1/chat/completions', REQUEST)
    next.out.on('error', () => {})
    const refusal = next.answer.then(({ statusCode }) => statusCode)
    expect(await Promise.race([refusal, new Promise(resolve => setTimeout(resolve, 200, 'admitted'))])).toBe('admitted')
    next.out.destroy()
  })

  test('a caller of several images that leaves sends none of them', async () => {
    const { give, tokens, upstream, channel } = await waiting('contents')
    const gateway = await openGateway([channel])
    const { out } = gateway.send('/v1/images/generations', { model: 'm', prompt: 'A cat', n: 3 })
    out.on('error', () => {})
    await until(() => tokens.seen.length === 1)
    out.destroy()
    await until(() => gateway.lines.some(({ message }) => message === 'request'))
    give()
    // The token has arrived when the next request is sent with it.
    await gateway.ask('/v1/chat/completions', REQUEST)
    expect(posts(upstream.seen)).toHaveLength(1)
  })
})

describe('headers of a caller', () => {
  const KEYS = { accessKeyId: ACCESS, secretAccessKey: SECRET }
  const secretOf = (access: string): string | undefined =>
    access === KEYS.accessKeyId ? KEYS.secretAccessKey : undefined

  test.each(['x-amz-date', 'X-Amz-Security-Token', 'x-amz-content-sha256'])(
    'such as %s never replace those of the signature',
    name => {
      const text = `channels: [{ name: c, provider: custom, base_url: "http://127.0.0.1:1", key: k, models: [m], allow_headers: ["${name}"] }]`
      expect(() => readConfig(text, {})).toThrow(`"${name}" is never passed from a caller to an upstream`)
    },
  )

  test('beyond ASCII are not signed, because no two programs agree about their bytes', async () => {
    const signer = new AwsSigner({ region: 'r', service: 's' }, KEYS)
    const headers = { 'anthropic-beta': 'caf\u00e9', 'anthropic-version': '2023-06-01' }
    const signed = await signer.sign({ method: 'POST', origin: 'https://h', path: '/', headers, body: '{}' })
    // A server that reads UTF-8 where this gateway sends Latin-1.
    const received = { ...signed, 'anthropic-beta': 'caf\ufffd' }
    expect(signatureFault({ method: 'POST', url: '/', headers: received, text: '{}' }, secretOf)).toBeUndefined()
    expect(signed['authorization']).toContain('anthropic-version')
  })

  test('that are repeated or contradict each other leave one valid signature', async () => {
    const signer = new AwsSigner({ region: 'r', service: 's' }, KEYS)
    const headers = {
      ...{ authorization: 'AWS4-HMAC-SHA256 Credential=evil', 'x-amz-date': '20150830T123600Z', date: 'yesterday' },
      ...{ 'x-amz-content-sha256': 'evil', host: 'evil', 'anthropic-beta': 'a,  b,\ta' },
    }
    const path = '/model/m/converse?a=1&a=2&b&a=1&%C3%A9=%20'
    const signed = await signer.sign({ method: 'POST', origin: 'https://h', path, headers, body: '{}' })
    expect(signed['host']).toBe('h')
    expect(Object.keys(signed).map(name => name.toLowerCase())).toEqual([...new Set(Object.keys(signed))])
    expect(signatureFault({ method: 'POST', url: path, headers: signed, text: '{}' }, secretOf)).toBeUndefined()
    expect(JSON.stringify(signed)).not.toContain('evil')
  })
})

import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { KEY } from '../../builders/config.ts'
import { opener } from '../../builders/opener.ts'
import { until } from '../../builders/time.ts'
import type { Script } from '../../builders/upstream.ts'
import { Client } from '../../sockets/client.ts'
import { channelTo, created, ScriptedUpstream } from '../../voice/upstream.ts'

/* Sessions of channels that sign in at a cloud. */

const { closing, openUpstream, openGateway } = opener()

const PATHS = [
  ['relayed', {}],
  ['translated', { 'openai-beta': 'realtime=v1' }],
] as const

/** A token server that numbers its tokens. */
const numbering = (): Script => {
  let count = 0
  return response => response.end(JSON.stringify({ access_token: `token-${++count}`, expires_in: 3600 }))
}

async function voiceUpstream(): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(connection => {
    connection.send(created())
    connection.send({ ...created(), type: 'session.updated' })
  })
  closing.push(() => upstream.close())
  return upstream
}

const signingIn = (upstream: ScriptedUpstream, authority: string): ChannelConfig => ({
  ...channelTo(upstream),
  auth: {
    ...{ type: 'azure-client', tenant: 't', clientId: 'app', clientSecret: 'entra-secret-1' },
    ...{ authority, scope: 'https://ai.azure.com/.default' },
  },
})

const sessionAt = (address: string, headers: { readonly [name: string]: string } = {}): Promise<Client> =>
  Client.open(address, headers, '/v1/realtime?model=voice')

const bearersOf = ({ connections }: ScriptedUpstream): (string | undefined)[] =>
  connections.map(({ message }) => message.headers.authorization)

describe.each(PATHS)('a session that is %s, at a channel that signs in at a cloud', (_, headers) => {
  test('waits for the first token, which the upstream gets', async () => {
    const tokens = await openUpstream(numbering())
    const upstream = await voiceUpstream()
    const { server } = await openGateway([signingIn(upstream, tokens.address)])
    for (let count = 0; count < 2; count++) (await sessionAt(server.address, headers)).socket.close()
    expect(bearersOf(upstream)).toEqual(['Bearer token-1', 'Bearer token-1'])
    expect(tokens.seen).toHaveLength(1)
  })

  test('gets a new token after the upstream refused one', async () => {
    const tokens = await openUpstream(numbering())
    const upstream = await voiceUpstream()
    const { server } = await openGateway([signingIn(upstream, tokens.address)])
    upstream.refusal = { status: 401, body: { error: { message: 'The token has expired.' } } }
    await expect(sessionAt(server.address, headers)).rejects.toMatchObject({ status: 503 })
    upstream.refusal = undefined
    ;(await sessionAt(server.address, headers)).socket.close()
    expect(bearersOf(upstream)).toEqual(['Bearer token-2'])
  })
})

describe('a caller that leaves before its session begins ends it at once', () => {
  /** Opens a session, ends the caller's connection properly when `hasBegun`, and waits for the session's end. */
  async function left(channel: ChannelConfig, hasBegun: () => boolean): Promise<void> {
    const { server, lines } = await openGateway([channel])
    const caller = new WebSocket(`${server.address.replace('http', 'ws')}/v1/realtime?model=voice`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    caller.on('error', () => {})
    await until(hasBegun)
    caller.terminate()
    await until(() => lines.some(({ message }) => message === 'session'), 3000)
  }

  test('while the upstream is silent', async () => {
    const silent = await openUpstream(() => {})
    await left(channelTo({ url: silent.address }), () => silent.seen.length === 1)
  })

  test('while a token is awaited, and no session begins at the upstream', async () => {
    const tokens = await openUpstream(() => {})
    const upstream = await voiceUpstream()
    await left(signingIn(upstream, tokens.address), () => tokens.seen.length === 1)
    expect(upstream.connections).toEqual([])
  })
})

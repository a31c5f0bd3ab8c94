import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, renameSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { get, request } from 'node:https'
import { connect as connectPlainly } from 'node:net'
import { join } from 'node:path'
import { connect, type PeerCertificate } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ConfigError } from '../../src/config/index.ts'
import { openServer } from '../../src/server/index.ts'
import { Certificates, hasOpenssl } from '../builders/certificate.ts'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { ALONE, configOf, KEY } from '../builders/config.ts'
import { textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { pause, until } from '../builders/time.ts'

const { closing, open } = opener()

const hello = (response: ServerResponse) => json(response, ANSWER)

const withTls = (tls: { cert: string; key: string }) => {
  const { server } = configOf([])
  return { ...server, ...ALONE, tls }
}

const certificates = (): Certificates => {
  const made = new Certificates()
  closing.push(async () => made.close())
  return made
}

/** Returns the certificate that the server presents to a new connection. */
async function shownAt(address: string): Promise<PeerCertificate> {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const shown = socket.getPeerCertificate()
  socket.destroy()
  return shown
}

describe.skipIf(!hasOpenssl)('TLS', () => {
  test('requests and sockets use TLS', async () => {
    const { cert, key, pem: ca } = certificates().make('one')
    const { testServer } = await open(hello, { config: { server: withTls({ cert, key }) } })
    const { address } = testServer.server
    expect(address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const out = request(`${address}/v1/chat/completions`, {
      ca,
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
    })
    out.end(JSON.stringify(ASK))
    const [answer] = await once(out, 'response')
    expect(JSON.parse(await textOf(answer)).choices[0].message.content).toBe('Hello.')
    const socket = new WebSocket(`${address.replace('https', 'wss')}/v1/responses`, {
      ca,
      headers: { authorization: `Bearer ${KEY}` },
    })
    await once(socket, 'open')
    socket.close()
    await once(socket, 'close')
  })

  test('a changed pair is used for new connections, an invalid one is not', async () => {
    const made = certificates()
    const [one, two] = [made.make('one'), made.make('two')]
    const used = { cert: join(made.folder, 'used.crt'), key: join(made.folder, 'used.key') }
    const take = (from: { cert: string; key: string }): void => {
      for (const file of ['cert', 'key'] as const) {
        copyFileSync(from[file], `${used[file]}.new`)
        renameSync(`${used[file]}.new`, used[file])
      }
    }
    take(one)
    const { testServer } = await open(hello, { config: { server: withTls(used) } })
    const { server, lines } = testServer
    const named = async (name: string): Promise<void> => {
      for (let tries = 0; (await shownAt(server.address)).subject.CN !== name; tries++) {
        if (tries > 1000) throw new Error(`the certificate of "${name}" was not taken`)
        await pause(50)
      }
    }
    await named('one')
    take(two)
    await named('two')
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
    writeFileSync(used.key, 'no key')
    await until(() => lines.some(({ message }) => message.startsWith('the new certificate cannot be used')), 10_000)
    expect(lines.find(({ level }) => level === 'error')!.fields['fault']).toContain('is not a PEM key')
    await named('two')
    take(one)
    await named('one')
  })

  test('a reload uses other files', async () => {
    const made = certificates()
    const [one, two] = [made.make('one'), made.make('two')]
    const { testServer } = await open(hello, { config: { server: withTls(one) } })
    const { server } = testServer
    server.reload(configOf([], { config: { server: withTls(two) } }))
    expect((await shownAt(server.address)).subject.CN).toBe('two')
  })

  test('files that cannot be used prevent the start', async () => {
    const made = certificates()
    const [one, two] = [made.make('one'), made.make('two')]
    const empty = join(made.folder, 'empty')
    writeFileSync(empty, '')
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const starting = (tls: { cert: string; key: string }) =>
      openServer({ config: configOf([], { config: { server: withTls(tls) } }), log })
    await expect(starting({ ...one, cert: join(made.folder, 'none') })).rejects.toThrow(
      /server\.tls\.cert: .*none cannot be read: ENOENT/,
    )
    await expect(starting({ ...one, cert: empty })).rejects.toThrow(/server\.tls\.cert: .*empty is empty/)
    await expect(starting({ ...one, cert: one.key })).rejects.toThrow(/one\.key is not a PEM certificate/)
    await expect(starting({ ...one, key: one.cert })).rejects.toThrow(/one\.crt is not a PEM key/)
    await expect(starting({ ...one, key: two.key })).rejects.toThrow(/two\.key does not match .*one\.crt/)
    await expect(starting({ ...one, key: two.key })).rejects.toBeInstanceOf(ConfigError)
  })

  test('a file that turns into a pipe stops no process', () => {
    const made = certificates()
    const { key } = made.make('one')
    const cert = join(made.folder, 'pipe')
    execFileSync('mkfifo', [cert])
    const script = `
      const { readPair } = await import(${JSON.stringify(new URL('../../src/server/tls.ts', import.meta.url).href)})
      try { readPair(${JSON.stringify({ cert, key })}) } catch (fault) { console.log(fault.message) }`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 })
    expect(String(stdout)).toContain('pipe is no regular file')
  }, 30_000)

  test('a client without TLS is disconnected without a log line', async () => {
    const { cert, key, pem: ca } = certificates().make('one')
    const { testServer } = await open(hello, { config: { server: withTls({ cert, key }) } })
    const { address } = testServer.server
    const port = Number(new URL(address).port)
    for (const said of ['GET / HTTP/1.1\r\nhost: a\r\n\r\n', '\x16\x03\x01\x00\x05hello', '']) {
      const socket = connectPlainly(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.end(said)
      await once(socket.resume(), 'close')
    }
    const [answer] = await once(get(`${address}/healthz`, { ca }), 'response')
    expect(answer.statusCode).toBe(200)
    answer.resume()
    expect(testServer.lines).toEqual([])
  })
})

import { copyFileSync, readFileSync, renameSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Certificates, hasOpenssl } from '../../builders/certificate.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { SERVING_KEY, Serving } from '../../builders/serving.ts'
import { until } from '../../builders/time.ts'

/*
 * A gateway whose client certificates live for hours only, as those of meshes and of cert-manager, and upstreams whose
 * own authority changes.
 */

const closing = closingAfterEach()
const ANSWER = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
}

let certificates: Certificates
beforeAll(() => {
  if (hasOpenssl) certificates = new Certificates()
})
afterAll(() => certificates?.close())

interface MutualUpstream {
  readonly url: string
  /** Common names of the client certificates of all requests. */
  readonly callers: string[]
  /** Switches to another certificate of its own, and to clients of another authority. */
  change(own: { readonly cert: string; readonly key: string }, clients: string): void
  /** Answers the request that waits. */
  readonly answer: (() => void)[]
}

/** An upstream that only takes requests with a client certificate that it knows. */
async function mutualUpstream(own: { cert: string; key: string }, clients: string): Promise<MutualUpstream> {
  const callers: string[] = []
  const answer: (() => void)[] = []
  const options = (files: { cert: string; key: string }, ca: string) => ({
    ...{ cert: readFileSync(files.cert), key: readFileSync(files.key), ca: readFileSync(ca) },
    ...{ requestCert: true, rejectUnauthorized: true },
  })
  const server = createServer(options(own, clients), (request, response) => {
    callers.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
    let text = ''
    request.on('data', piece => (text += piece))
    request.on('end', () => {
      const end = (): void => void response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))
      if (text.includes('"slow"')) answer.push(end)
      else end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const change: MutualUpstream['change'] = (files, ca) => {
    server.setSecureContext(options(files, ca))
    server.closeIdleConnections()
  }
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, callers, change, answer }
}

/** Writes files as a renewal does: each beside its place, and then moved there. */
function renew(from: { cert: string; key: string }, to: { cert: string; key: string }): void {
  for (const field of ['cert', 'key'] as const) {
    copyFileSync(from[field], `${to[field]}.new`)
    renameSync(`${to[field]}.new`, to[field])
  }
}

describe.runIf(hasOpenssl)('certificates of a channel', () => {
  test.each([1, 2])(
    'that are renewed are used, without a restart, by all of %i processes',
    { timeout: 120_000 },
    async workers => {
      const [upstream1, upstream2] = [certificates.make('upstream-1'), certificates.make('upstream-2')]
      const [client1, client2] = [certificates.make('client-1'), certificates.make('client-2')]
      const inUse = certificates.make(`in-use-${workers}`)
      const authority = { cert: `${inUse.cert}.ca`, key: `${inUse.key}.ca` }
      renew(client1, inUse)
      renew(upstream1, authority)
      const upstream = await mutualUpstream(upstream1, client1.cert)
      const channel = { name: 'mutual', provider: 'custom', formats: ['chat'], base_url: upstream.url, key: 'none' }
      const gateway = await Serving.start({
        server: { port: 0, workers },
        keys: [{ name: 'dev', key: SERVING_KEY }],
        channels: [
          {
            ...{ ...channel, models: ['m', 'slow'] },
            tls: { ca: authority.cert, cert: inUse.cert, key: inUse.key },
          },
        ],
      })
      closing.push(() => gateway.close())
      expect((await gateway.chat('m')).status).toBe(200)
      const slow = gateway.chat('slow')
      await until(() => upstream.answer.length === 1, 10_000)

      upstream.change(upstream2, client2.cert)
      renew(client2, inUse)
      renew(upstream2, authority)
      // Each process reads the files for itself.
      await vi.waitFor(
        async () => {
          for (let count = 0; count < 8; count++) expect((await gateway.chat('m')).status).toBe(200)
        },
        { timeout: 20_000, interval: 200 },
      )
      expect(new Set(upstream.callers.slice(2))).toEqual(new Set(['client-2']))
      upstream.answer[0]!()
      expect((await slow).status).toBe(200)
    },
  )

  test('of which one is half written leave the old ones in use', { timeout: 120_000 }, async () => {
    const own = certificates.make('upstream-3')
    const [client1, client2] = [certificates.make('client-3'), certificates.make('client-4')]
    const inUse = certificates.make('in-use-3')
    renew(client1, inUse)
    const upstream = await mutualUpstream(own, client1.cert)
    const gateway = await Serving.start({
      server: { port: 0 },
      keys: [{ name: 'dev', key: SERVING_KEY }],
      channels: [
        {
          ...{
            name: 'mutual',
            provider: 'custom',
            formats: ['chat'],
            base_url: upstream.url,
            key: 'none',
            models: ['m'],
          },
          tls: { ca: own.cert, cert: inUse.cert, key: inUse.key },
        },
      ],
    })
    closing.push(() => gateway.close())
    copyFileSync(client2.cert, inUse.cert)
    await until(() => gateway.out.includes('the new config cannot be used'), 20_000)
    expect((await gateway.chat('m')).status).toBe(200)
    upstream.change(own, client2.cert)
    copyFileSync(client2.key, inUse.key)
    await until(() => gateway.out.includes('config reloaded'), 20_000)
    expect((await gateway.chat('m')).status).toBe(200)
    expect(upstream.callers).toEqual(['client-3', 'client-4'])
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { expect } from 'vitest'
import { freshSecret } from '../../src/accounts/secret.ts'
import type { ChannelConfig, Config } from '../../src/config/index.ts'
import { ENDPOINTS } from '../../src/operators/admin/index.ts'
import { PROBLEMS } from '../../src/operators/admin/problem.ts'
import type { Store } from '../../src/store/store.ts'
import { KEY, type TestServerOptions } from './config.ts'
import { openStoreAt } from './engines.ts'
import { type Asked, TestServer } from './gateway.ts'

/** A gateway with a store, and an administrator's token. */
export class AdminServer {
  readonly testServer: TestServer
  readonly store: Store
  readonly token: string
  readonly tokenId: string
  /** The operations that were answered with success. */
  readonly answered = new Set<string>()
  /** Strings that must never be in an answer. */
  readonly secrets: string[] = []
  /** Folder of the store, which other gateways may share. */
  readonly path: string

  private constructor(testServer: TestServer, store: Store, token: { text: string; id: string }, path: string) {
    this.testServer = testServer
    this.store = store
    this.token = token.text
    this.tokenId = token.id
    this.path = path
    this.secrets.push(KEY, token.text, 'upstream-key-1234')
  }

  static async open(
    channels: readonly ChannelConfig[],
    config: Partial<Config> = {},
    options: TestServerOptions = {},
  ): Promise<AdminServer> {
    const path = mkdtempSync(join(tmpdir(), 'admin-'))
    const store = await openStoreAt(path)
    const { text, secret } = freshSecret('iladm', Date.now())
    const id = '0'.repeat(32)
    await store.access.addToken({ id, name: 'tests', ...secret })
    const testServer = await TestServer.open(channels, { keep: path, ...options, config })
    return new AdminServer(testServer, store, { text, id }, path)
  }

  /** Sends a request and checks its answer against the table of endpoints. */
  async ask(method: string, path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) {
    const answer = await this.testServer.ask(`/admin/v1${path}`, body, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...headers },
    })
    this.check(method, path, answer)
    return answer
  }

  get = (path: string) => this.ask('GET', path)
  post = (path: string, body: unknown = {}) => this.ask('POST', path, body)
  patch = (path: string, body: unknown) => this.ask('PATCH', path, body)
  put = (path: string, body: unknown) => this.ask('PUT', path, body)
  delete = (path: string) => this.ask('DELETE', path)

  async close(): Promise<void> {
    await this.testServer.server.close(0)
    await this.store.close()
    rmSync(this.path, { recursive: true })
  }

  private check(method: string, path: string, { status, headers, text, json }: Asked): void {
    expect(headers['cache-control']).toBe('no-store')
    expect(headers['access-control-allow-origin']).toBeUndefined()
    for (const secret of this.secrets) expect(text).not.toContain(secret)
    if (status >= 400) {
      expect(headers['content-type']).toBe('application/problem+json')
      const type = String(json.type).replace('urn:interlingua:problem:', '') as keyof typeof PROBLEMS
      expect(json).toMatchObject({ status, title: PROBLEMS[type].title, instance: headers['x-request-id'] })
      return
    }
    const endpoint = endpointOf(method, path)
    expect(status).toBe(endpoint.status)
    this.answered.add(endpoint.operation)
    if (headers['content-type']!.startsWith('application/json') && status !== 204 && endpoint.answer !== undefined)
      v.parse(endpoint.answer as v.GenericSchema, json)
  }
}

/** Returns the row of the table that a request belongs to. */
export function endpointOf(method: string, path: string) {
  const steps = path.split('?')[0]!.split('/')
  const fits = (pattern: readonly string[]): boolean =>
    pattern.length === steps.length && pattern.every((step, at) => step === steps[at] || step.startsWith('{'))
  return ENDPOINTS.find(one => one.method === method.toLowerCase() && fits(one.path.split('/')))!
}

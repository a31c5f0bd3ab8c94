import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici'
import { pause, until } from '../builders/time.ts'
import { command, Instance, type Shared } from './instance.ts'

/** Several instances of several workers each. Requests are sent to them in turn, over a new connection each time. */
export class Fleet {
  readonly shared: Shared
  instances: readonly Instance[] = []
  private readonly dispatcher: Dispatcher = new Agent({ pipelining: 0, connections: null })
  private turn = 0

  private constructor(shared: Shared) {
    this.shared = shared
  }

  static async start(shared: Shared, workers = 2, count = 2): Promise<Fleet> {
    const { server = {} } = shared.config as { readonly server?: object }
    const fleet = new Fleet({ ...shared, config: { ...shared.config, server: { ...server, workers } } })
    fleet.instances = await Promise.all(Array.from({ length: count }, () => Instance.start(fleet.shared)))
    await until(() => fleet.instances.every(one => one.workers.length === workers))
    return fleet
  }

  /** Ids of all processes that answer requests. */
  get pids(): readonly number[] {
    return this.instances.flatMap(({ workers }) => workers)
  }

  /** `fetch` for SDKs. It uses the next instance, whatever address is given. */
  readonly fetch = ((input: string | URL, init: object = {}) =>
    this.fetchAt(this.instances[this.turn++ % this.instances.length]!, input, init)) as unknown as typeof fetch

  /** Sends one request to the next instance. */
  ask(path: string, key: string, body?: unknown, method?: string): Promise<Response> {
    return this.askAt(this.instances[this.turn++ % this.instances.length]!, path, key, body, method)
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  async json(path: string, key: string, body?: unknown, method?: string): Promise<any> {
    return (await this.ask(path, key, body, method)).json()
  }

  /** Sends one request to the process of that number. The other workers are stopped meanwhile. */
  async at(number: number, path: string, key: string, body?: unknown): Promise<Response> {
    const all = this.instances.flatMap(one => one.workers.map(pid => ({ one, pid })))
    const { one, pid } = all[number % all.length]!
    const others = one.workers.filter(other => other !== pid)
    for (const other of others) process.kill(other, 'SIGSTOP')
    try {
      return await this.askAt(one, path, key, body)
    } finally {
      for (const other of others) process.kill(other, 'SIGCONT')
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  async jsonAt(number: number, path: string, key: string, body?: unknown): Promise<any> {
    return (await this.at(number, path, key, body)).json()
  }

  /** Creates a key, which every process accepts from then on. */
  key(name: string, ...options: string[]): Promise<string> {
    return command(this.shared, 'keys', 'create', name, ...options)
  }

  /** Waits until every process accepts a key of the config, which each process reads by itself. */
  async known(key: string): Promise<void> {
    for (const number of this.pids.keys())
      while ((await this.at(number, '/v1/models', key)).status !== 200) await pause(50)
  }

  private askAt(
    one: Instance,
    path: string,
    key: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return this.fetchAt(one, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  }

  /** A connection that stays open belongs to one worker. */
  private fetchAt(one: Instance, input: string | URL, init: object): Promise<Response> {
    const { pathname, search } = new URL(String(input), 'http://any')
    const out = { ...init, dispatcher: this.dispatcher } as never
    return undiciFetch(one.address + pathname + search, out) as unknown as Promise<Response>
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await Promise.all(this.instances.map(one => one.stop(signal)))
  }

  async close(): Promise<void> {
    await this.stop()
    await this.dispatcher.destroy()
  }
}

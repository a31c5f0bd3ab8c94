import { buildConnector, Client, type Dispatcher, Pool } from 'undici'
import { takesContinue } from './continue.ts'

type Request = Dispatcher.DispatchOptions
type Handler = Dispatcher.DispatchHandler

/** The connections to one origin: kept alive and reused, or made for a single request. */
export class OriginPool {
  /** A connection was just made, or could not be: a request that is written or fails now is its first. */
  fresh = false
  private readonly origin: string
  private readonly connect: buildConnector.connector
  private readonly pool: Pool
  private readonly single = new Set<Client>()

  /** @param timeout milliseconds the other side may take to accept a connection. */
  constructor(origin: string, timeout: number) {
    this.origin = origin
    const connector = buildConnector({ timeout } as buildConnector.BuildOptions)
    this.connect = (to, done) =>
      connector(to, (...outcome) => {
        this.fresh = true
        done(...outcome)
        this.fresh = false
        if (outcome[0] === null) takesContinue(outcome[1])
      })
    // A connection for each request in flight: waiting for another's answer costs more than a connection.
    this.pool = new Pool(origin, { connections: null, pipelining: 1, connect: this.connect })
  }

  dispatch(request: Request, handler: Handler): void {
    this.pool.dispatch(request, handler)
  }

  /** Sends a request over a separate connection, which is closed after it. */
  dispatchAlone(request: Request, handler: Handler): void {
    const client = new Client(this.origin, { connect: this.connect })
    this.single.add(client)
    client.dispatch(request, handler)
    const done = (): boolean => this.single.delete(client)
    void client.close().then(done, done)
  }

  /** Closes kept-alive connections, once nothing runs over them. */
  close(): Promise<void> {
    return this.pool.close()
  }

  /** Aborts what is running. */
  async destroy(): Promise<void> {
    await Promise.all([this.pool, ...this.single].map(one => one.destroy()))
  }
}

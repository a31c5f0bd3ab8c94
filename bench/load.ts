import { type Dispatcher, Pool } from 'undici'

/** A request that is sent repeatedly. */
export interface Shot {
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Buffer
}

/** Sends requests to one origin. Each measurement opens its own and closes it at the end. */
export class Load {
  private readonly pool: Pool

  constructor(origin: string) {
    this.pool = new Pool(origin, { connections: null, pipelining: 1 })
  }

  /** Sends one request and returns its status. Rejects if the answer is incomplete. */
  one(shot: Shot): Promise<number> {
    return new Promise((resolve, reject) => {
      let status = 0
      this.pool.dispatch(asPost(shot), {
        onRequestStart: () => {},
        onResponseStart: (_, given) => void (status = given),
        onResponseData: () => {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_, error) => reject(error),
      })
    })
  }

  /** Sends one request and returns the time to the first byte of its body, in milliseconds. */
  firstByte(shot: Shot): Promise<number> {
    const began = performance.now()
    let first: number | undefined
    return new Promise((resolve, reject) => {
      this.pool.dispatch(asPost(shot), {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: () => void (first ??= performance.now() - began),
        onResponseEnd: () => resolve(first ?? Number.NaN),
        onResponseError: (_, error) => reject(error),
      })
    })
  }

  /** Sends one request and returns the text of the answer. */
  text(shot: Shot): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = []
      let status = 0
      this.pool.dispatch(asPost(shot), {
        onRequestStart: () => {},
        onResponseStart: (_, given) => void (status = given),
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: () => resolve({ status, text: Buffer.concat(chunks).toString() }),
        onResponseError: (_, error) => reject(error),
      })
    })
  }

  /**
   * Keeps `concurrency` requests in flight for the given number of milliseconds, and returns how many were answered.
   */
  async many(shot: Shot, concurrency: number, duration: number): Promise<number> {
    const until = performance.now() + duration
    let done = 0
    const lane = async (): Promise<void> => {
      while (performance.now() < until) {
        const status = await this.one(shot)
        if (status !== 200) throw new Error(`answered with status ${status}`)
        done++
      }
    }
    await Promise.all(Array.from({ length: concurrency }, lane))
    return done
  }

  /** Sends requests one after another, and returns the time that each took in milliseconds, in ascending order. */
  async times(shot: Shot, count: number): Promise<readonly number[]> {
    const times: number[] = []
    for (let number = 0; number < count; number++) {
      const began = performance.now()
      await this.one(shot)
      times.push(performance.now() - began)
    }
    return times.toSorted((a, b) => a - b)
  }

  /** Opens a stream that stays open until it ends or is closed. `seen` is called with the size of every chunk. */
  open(shot: Shot, seen: (bytes: number) => void, ended: () => void = () => {}): OpenStream {
    let controller: Dispatcher.DispatchController | undefined
    let closed = false
    this.pool.dispatch(asPost(shot), {
      onRequestStart: given => void (controller = given),
      onResponseStart: () => {},
      onResponseData: (_, chunk) => seen(chunk.length),
      onResponseEnd: ended,
      onResponseError: (_, error) => {
        if (!closed) console.error(`a stream broke: ${error.message}`)
      },
    })
    return {
      close: () => {
        closed = true
        controller?.abort(new Error('closed'))
      },
      pause: () => controller?.pause(),
      resume: () => controller?.resume(),
    }
  }

  close(): Promise<void> {
    return this.pool.destroy()
  }
}

export interface OpenStream {
  close(): void
  pause(): void
  resume(): void
}

const asPost = ({ path, headers, body }: Shot): Dispatcher.DispatchOptions => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body,
  bodyTimeout: 0,
})

import { MAX_RUNNING } from './limits.ts'

/** Maximum number of requested responses tracked per session. */
const MAX_REQUESTED = 1000
/** Maximum length of a stored event id, in characters. */
const MAX_ID_LENGTH = 64

/** Requested and running responses of a session. Each response is admitted once, no matter who started it. */
export class ResponseCounter {
  private readonly admit: () => void
  /** Event ids of requested responses that have not started. */
  private readonly requested: (string | undefined)[] = []
  /** Ids of running responses. */
  private readonly running = new Set<string>()

  /** @param admit function that counts a response. Throws GatewayError if the key has reached a limit. */
  constructor(admit: () => void) {
    this.admit = admit
  }

  get isIdle(): boolean {
    return this.running.size === 0
  }

  /** Registers a response that a client event requested. Throws GatewayError if the key has reached a limit. */
  request(event: string | undefined): void {
    this.admit()
    this.requested.push(event?.slice(0, MAX_ID_LENGTH))
    if (this.requested.length > MAX_REQUESTED) this.requested.shift()
  }

  /** Removes a requested response that the upstream refused with an error about the given event. */
  refused(event: string | undefined): void {
    const index = event === undefined ? 0 : this.requested.indexOf(event.slice(0, MAX_ID_LENGTH))
    if (index >= 0) this.requested.splice(index, 1)
  }

  /**
   * Registers a response that has started. A response that turn detection started is counted like a requested response,
   * and throws GatewayError if the key has reached a limit.
   */
  began(response: string): void {
    this.running.add(response)
    if (this.running.size > MAX_RUNNING) this.running.delete(this.running.values().next().value!)
    if (this.requested.length > 0) this.requested.shift()
    else this.admit()
  }

  isRunning(response: string): boolean {
    return this.running.has(response)
  }

  ended(response: string): void {
    this.running.delete(response)
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { AbandonedExchanges } from './abandoned-exchanges.ts'
import type { Library } from './library.ts'
import { passExchange } from './pass-exchange.ts'
import { PassedSessions } from './record-sockets.ts'
import { Recorder } from './recorder.ts'

/** Policy of a replay server for requests that no recording matches, which it passes on to an upstream. */
export interface MissPolicy {
  /** The base URL of the upstream. */
  readonly upstream: string
  /**
   * Records the exchanges, so that the next equal request finds a recording. Without it, requests are only passed on.
   */
  readonly record?: RecordMisses
}

export interface RecordMisses {
  readonly folder: string
  /** Rules of `--redact`. */
  readonly redact?: readonly string[]
  /** Reports a recording that could not be written. */
  warn(message: string): void
  /** Reports a written file. */
  onWritten?(file: string): void
}

/** Passes requests without a recording on to an upstream, and adds the resulting recordings to a library. */
export class PassedMisses {
  private readonly upstream: string
  private readonly recorder: Recorder | undefined
  private readonly sessions: PassedSessions
  private readonly abandoned = new AbandonedExchanges()

  constructor({ upstream, record }: MissPolicy, library: Library, ignore: readonly string[]) {
    this.upstream = upstream
    this.recorder =
      record &&
      new Recorder({
        ...{ folder: record.folder, redact: record.redact ?? [], ignore },
        warn: message => record.warn(message),
        onWritten: (file, recording) => {
          library.add({ file, recording })
          record.onWritten?.(file)
        },
      })
    this.sessions = new PassedSessions(upstream, this.recorder)
  }

  pass(message: IncomingMessage, reply: ServerResponse, body: Buffer): void {
    const { upstream, recorder, abandoned } = this
    passExchange(message, reply, { upstream, recorder, abandoned, body })
  }

  passSession(message: IncomingMessage, connection: Duplex, head: Buffer): void {
    this.sessions.pass(message, connection, head)
  }

  /** Waits until every exchange that was passed on is recorded. */
  async waitUntilWritten(): Promise<void> {
    await this.recorder?.close()
  }

  async close(): Promise<void> {
    this.sessions.close()
    await this.abandoned.close()
    await this.recorder?.close()
  }
}

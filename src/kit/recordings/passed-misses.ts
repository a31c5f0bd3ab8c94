import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Library } from './library.ts'
import { passExchange } from './pass-exchange.ts'
import { Recorder } from './recorder.ts'

/** What a replay server does with requests that no recording matches: it passes them to an upstream. */
export interface MissPolicy {
  /** The base URL of the upstream. */
  readonly upstream: string
  /** Records what passes, so that the next equal request finds it. Without it, requests only pass. */
  readonly record?: RecordMisses
}

export interface RecordMisses {
  readonly folder: string
  /** Rules of `--redact`. */
  readonly redact?: readonly string[]
  /** Reports a recording that could not be written. */
  warn(message: string): void
  /** Reports a written file. */
  wrote?(file: string): void
}

/** Passes requests without a recording to an upstream, and adds what it records of them to a library. */
export class PassedMisses {
  private readonly upstream: string
  readonly recorder: Recorder | undefined

  constructor({ upstream, record }: MissPolicy, library: Library, ignore: readonly string[]) {
    this.upstream = upstream
    this.recorder =
      record &&
      new Recorder({
        ...{ folder: record.folder, redact: record.redact ?? [], ignore },
        warn: message => record.warn(message),
        wrote: (file, recording) => {
          library.add({ file, recording })
          record.wrote?.(file)
        },
      })
  }

  pass(message: IncomingMessage, reply: ServerResponse, body: Buffer): void {
    passExchange(message, reply, { upstream: this.upstream, recorder: this.recorder, body })
  }

  /** Waits until every exchange that has passed is recorded. */
  async written(): Promise<void> {
    await this.recorder?.close()
  }

  async close(): Promise<void> {
    await this.recorder?.close()
  }
}

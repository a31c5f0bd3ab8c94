import { isDeepStrictEqual } from 'node:util'
import type { TracesConfig } from '../../config/index.ts'
import { type Log, LogOnce } from '../../log.ts'
import type { RequestTrace, TracedRequest, Tracer } from './trace.ts'

export type { AttemptTrace, RequestTrace, TracedAttempt } from './trace.ts'

/** The traces of requests, where a collector of them is configured; what makes them is loaded only then. */
export class Traces {
  /** Settles when requests can be traced. */
  opened: Promise<void> = Promise.resolve()
  private settings: TracesConfig | undefined
  /** What makes them; undefined where none are made. */
  tracer: Tracer | undefined
  private readonly faults: LogOnce

  constructor(settings: TracesConfig | undefined, log: Log) {
    this.faults = new LogOnce(thrown => log.warn({ fault: String(thrown) }, 'traces cannot be sent'))
    this.open(settings)
  }

  reload(settings: TracesConfig | undefined): void {
    if (isDeepStrictEqual(settings, this.settings)) return
    void this.close()
    this.open(settings)
  }

  /** Begins the trace of a request; undefined where none are made. */
  begin(request: TracedRequest): RequestTrace | undefined {
    return this.tracer?.begin(request)
  }

  async close(): Promise<void> {
    const { tracer } = this
    this.settings = undefined
    this.tracer = undefined
    await tracer?.close()
  }

  private open(settings: TracesConfig | undefined): void {
    this.settings = settings
    if (settings === undefined) return
    this.opened = import('./otlp.ts').then(
      ({ openTracer }) => {
        if (this.settings !== settings) return
        this.tracer = openTracer(settings, fault => this.faults.log(fault, 'export'))
      },
      thrown => this.faults.log(thrown),
    )
  }
}

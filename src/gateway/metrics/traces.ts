import { isDeepStrictEqual } from 'node:util'
import type { TracesConfig } from '../../config/index.ts'
import { type Log, LogOnce } from '../../log.ts'
import type { RequestTrace, TracedRequest, Tracer } from './trace.ts'

export type { AttemptTrace, RequestTrace, TracedAttempt } from './trace.ts'

/** Traces requests if the config names a collector. OpenTelemetry is loaded only then. */
export class Traces {
  /** Settles when the tracer is loaded. */
  opened: Promise<void> = Promise.resolve()
  private settings: TracesConfig | undefined
  /** Tracer of the collector, or undefined if none is configured or while it loads. */
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

  /** Starts the trace of a request. Returns undefined if requests are not traced. */
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

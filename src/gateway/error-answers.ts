import { ERRORS } from '../canonical/error.ts'
import type { Format } from '../canonical/node.ts'
import { type Log, LogOnce } from '../log.ts'
import { type ErrorAnswer, errorAnswer, toFailure } from './failures.ts'
import type { Report } from './report.ts'
import type { Running, RunningCall } from './running.ts'

/** Answers failed requests with errors in their formats, and logs the gateway's own faults. */
export class ErrorAnswers {
  private readonly log: Log
  private readonly running: Running
  /** Logs once that memory or disk space is exhausted. */
  private readonly shortage: LogOnce

  constructor(log: Log, running: Running) {
    this.log = log
    this.running = running
    this.shortage = new LogOnce(err => log.error({ err }, 'a form cannot be stored: the disk is full or faulty'))
  }

  /** Reports a failure to the caller: as a whole answer if nothing has been sent yet, or else by disconnecting. */
  write(call: RunningCall, thrown: unknown, report?: Report): void {
    const { id, format, route, framing, reply } = call
    const { status, headers, text } = this.of(route?.errors ?? format, thrown, id)
    // Requests refused while the gateway was stopping already have their answers.
    const isInterrupted = reply.started && this.running.has(call)
    report?.recordError(
      toFailure(thrown).error,
      reply.gone ? CALLER_GONE_STATUS : isInterrupted ? report!.status : status,
    )
    if (reply.gone) return
    if (isInterrupted) reply.destroy()
    else if (!reply.started) reply.whole(status, headers, framing === 'array' ? `[${text}]` : text)
  }

  /**
   * Returns a failure as an error answer of the format. Logs the cause of the gateway's own faults, which callers never
   * see.
   */
  of(format: Format, thrown: unknown, id: string): ErrorAnswer {
    const { error, cause } = toFailure(thrown)
    if (error.kind === 'internal') this.log.error({ id, err: cause }, 'a fault of the gateway')
    else if (error.kind === 'overloaded' && cause !== undefined) this.shortage.log(cause)
    return errorAnswer(format, thrown, id)
  }
}

const CALLER_GONE_STATUS = ERRORS.cancelled.status

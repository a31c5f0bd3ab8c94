import { GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { RunRequest } from '../upstream.ts'
import type { Gate } from './gate.ts'

export interface RunOptions {
  readonly run: RunRequest
  readonly signal: AbortSignal
  /** Gate that stops the run from pulling events while it is closed. */
  readonly gate: Gate
}

/**
 * Runs a request to its end and passes each event to `take`. The next event waits for the promise that `take` returns.
 * After an abort, no more events are passed, and the function returns once the request has ended.
 *
 * @throws GatewayError if the request fails, before or during the answer.
 */
export async function runRequest(
  request: CanonicalRequest,
  { run, signal, gate }: RunOptions,
  take: (event: CanonicalEvent) => Promise<void> | undefined | void,
): Promise<void> {
  if (signal.aborted) return
  try {
    for await (const event of run(request, signal)) {
      if (signal.aborted) return
      if (event.type === 'error') throw new GatewayError(event.error)
      await take(event)
      if (gate.opened !== undefined) await waitForGate(gate, signal)
      if (signal.aborted) return
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown instanceof GatewayError ? thrown : ANSWER_CUT
  }
}

/** Resolves when the gate opens or the signal aborts. */
export async function waitForGate(gate: Gate, signal: AbortSignal): Promise<void> {
  const abortion = Promise.withResolvers<void>()
  const leave = (): void => abortion.resolve()
  signal.addEventListener('abort', leave, { once: true })
  while (gate.opened !== undefined && !signal.aborted) await Promise.race([gate.opened, abortion.promise])
  signal.removeEventListener('abort', leave)
}

const ANSWER_CUT = new GatewayError({ kind: 'upstream-failed', message: 'The upstream ended the answer early.' })

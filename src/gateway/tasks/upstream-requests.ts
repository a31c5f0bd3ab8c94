import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { TaskCall } from '../../egress/task-writer.ts'
import { READERS } from '../../ingress/index.ts'
import type { Answer, Exchange } from '../../upstreams/channel/index.ts'
import { answerFailure, toFailure } from '../failures.ts'
import { publicError } from '../public-answer.ts'
import { readWireResult } from '../read-result.ts'
import { upstreamError } from '../send.ts'
import { requestOf } from './public-task.ts'
import { type TaskUpstream, targetOf, upstreamTask } from './task-upstream.ts'

/**
 * Requests the current state of a task from its upstream, by the task's id or, if the submission was not answered, by
 * its reference.
 *
 * @throws GatewayError `not-found` if the upstream says that it has no such task. A 404 without JSON says nothing about
 * the task: proxies such as Traefik and nginx send it while the upstream behind them restarts.
 */
export function requestState(upstream: TaskUpstream, signal: AbortSignal): Promise<CanonicalResult> {
  const { task, format, writer } = upstream
  const { id, ...rest } = upstreamTask(task)
  const call =
    id !== '' ? writer.status({ id, ...rest }, format.dialect) : writer.find!(rest, task.reference!, format.dialect)
  const read = (answer: Answer) =>
    readWireResult(answer, READERS[format.format]!, requestOf(task), { largest: MAX_ANSWER_SIZE })
  const check = ({ status, bodyKind }: Answer): void => {
    if (status === 404 && bodyKind !== 'json') throw NOT_OF_THE_VENDOR
  }
  return exchange(upstream, call, read, { signal, check })
}

const NOT_OF_THE_VENDOR = new GatewayError(upstreamFailed('A proxy in front of the upstream answered with status 404.'))

/** Deletes a task at its upstream, if the format and the server support it. Throws GatewayError for other failures. */
export async function requestRemoval(upstream: TaskUpstream): Promise<void> {
  const call = upstream.writer.remove?.(upstreamTask(upstream.task), upstream.format.dialect)
  if (call === undefined) return
  await exchange(upstream, call, async () => {}).catch((thrown: unknown) => {
    const failure = toFailure(thrown)
    const { kind, status } = failure.error
    if (kind !== 'not-found' && !NO_SUCH_METHOD.has(status)) throw withPublicError(failure, upstream)
  })
}

/** Statuses of servers that have the path but no `DELETE`, such as those made with FastAPI. */
const NO_SUCH_METHOD: ReadonlySet<number | undefined> = new Set([405, 501])

/** Sends a request with the channel's credential. */
export async function sendCall(
  { channel, format }: Pick<TaskUpstream, 'channel' | 'format'>,
  { method, ...endpoint }: TaskCall,
  headers: TaskCall['headers'] = {},
): Promise<Exchange> {
  await channel.ready()
  return channel.call(method, format, { ...endpoint, headers: { ...endpoint.headers, ...headers } })
}

/** Timeout of a request about a task, in milliseconds. The request is repeated later. */
const TIMEOUT = 15_000

/** Maximum size of an answer about a task, in bytes. Answers are stored and sent to callers. */
const MAX_ANSWER_SIZE = 2 ** 20

interface ExchangeOptions {
  readonly signal?: AbortSignal
  /** Throws for an answer that is not the upstream's own. */
  readonly check?: (answer: Answer) => void
}

async function exchange<T>(
  upstream: TaskUpstream,
  call: TaskCall,
  read: (answer: Answer) => Promise<T>,
  { signal, check }: ExchangeOptions = {},
): Promise<T> {
  const exchange = await sendCall(upstream, call, { accept: 'application/json' })
  const abort = () => exchange.abort()
  const timer = setTimeout(abort, TIMEOUT)
  signal?.addEventListener('abort', abort)
  try {
    const answer = await exchange.answer
    check?.(answer)
    if (answer.status < 200 || answer.status > 299) throw await failureOf(answer, upstream)
    return await read(answer)
  } catch (thrown) {
    throw answerFailure(thrown)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    exchange.discardRest()
  }
}

/** Returns the error in an upstream's answer, without data that callers must not see. */
export const publicFailure = async (answer: Answer, upstream: TaskUpstream): Promise<GatewayError> =>
  withPublicError(await failureOf(answer, upstream), upstream)

const withPublicError = (failure: GatewayError, upstream: TaskUpstream): GatewayError =>
  new GatewayError(publicError(failure.error, targetOf(upstream), upstream.task.model), { cause: failure.cause })

const failureOf = (answer: Answer, upstream: TaskUpstream): Promise<GatewayError> =>
  upstreamError(answer, targetOf(upstream), upstream.task.model)

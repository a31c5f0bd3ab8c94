import { defined } from '../canonical/defined.ts'
import { GatewayError } from '../canonical/error.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import type { UpstreamTask } from '../canonical/task.ts'
import type { Answer, Channel, Exchange } from '../channel/index.ts'
import type { ChannelFormat } from '../config/index.ts'
import { WRITERS } from '../egress/index.ts'
import type { TaskCall, TaskWriter } from '../egress/task-writer.ts'
import { answerFailure } from '../gateway/failures.ts'
import { readWireResult } from '../gateway/read-result.ts'
import { upstreamError } from '../gateway/send.ts'
import { READERS } from '../ingress/index.ts'
import type { Candidate } from '../router.ts'
import type { StoredTask } from '../store/tasks.ts'
import { requestOf } from './public-task.ts'

/** The upstream a task is worked on by, as it is configured now. */
export interface TaskUpstream {
  readonly task: StoredTask
  readonly channel: Channel
  readonly format: ChannelFormat
  readonly writer: TaskWriter
}

/** The upstream of a task; undefined where its channel is not configured any more. */
export function upstreamOf(task: StoredTask, channels: readonly Channel[]): TaskUpstream | undefined {
  const channel = channels.find(({ config }) => config.name === task.channel)
  const format = channel?.config.formats.find(one => one.format === task.format)
  const writer = format && WRITERS[format.format]?.tasks
  return channel === undefined || format === undefined || writer === undefined
    ? undefined
    : { task, channel, format, writer }
}

/** The upstream as a way to answer the task's request. */
export const candidateOf = ({ task, channel, format }: TaskUpstream): Candidate => ({
  ...{ channel: channel.config, format, upstreamModel: task.upstreamModel },
  ...{ native: true, emulated: false, resting: false },
})

/** The task as its upstream is asked about it. */
export const upstreamTask = ({ upstreamId = '', upstreamModel, from, result }: StoredTask): UpstreamTask => ({
  ...{ id: upstreamId, model: upstreamModel, from },
  ...defined({ files: result.task?.files }),
})

/**
 * The state of a task as its upstream has it now: by its id or, where the submit was not answered, by its reference.
 *
 * @throws GatewayError, `not-found` where there is no such task there.
 */
export function askState(upstream: TaskUpstream): Promise<CanonicalResult> {
  const { task, format, writer } = upstream
  const { id, ...rest } = upstreamTask(task)
  const call =
    id !== '' ? writer.status({ id, ...rest }, format.dialect) : writer.find!(rest, task.reference!, format.dialect)
  return exchange(upstream, call, answer => readWireResult(answer, READERS[format.format]!, requestOf(task)))
}

/** Has the upstream forget a task, where it has a call for that. Throws GatewayError where it refuses. */
export async function askRemoval(upstream: TaskUpstream): Promise<void> {
  const call = upstream.writer.remove?.(upstreamTask(upstream.task), upstream.format.dialect)
  if (call === undefined) return
  await exchange(upstream, call, async () => {}).catch((thrown: unknown) => {
    if (!(thrown instanceof GatewayError) || thrown.error.kind !== 'not-found') throw thrown
  })
}

/** Sends a call with the channel's credential. */
export async function sendCall(
  { channel, format }: Pick<TaskUpstream, 'channel' | 'format'>,
  { method, ...where }: TaskCall,
  headers: TaskCall['headers'] = {},
): Promise<Exchange> {
  await channel.ready()
  return channel.call(method, format, { ...where, headers: { ...where.headers, ...headers } })
}

/** Milliseconds a question about a task may take: it is asked again later. */
const PATIENCE = 15_000

async function exchange<T>(upstream: TaskUpstream, call: TaskCall, use: (answer: Answer) => Promise<T>): Promise<T> {
  const sent = await sendCall(upstream, call, { accept: 'application/json' })
  const timer = setTimeout(() => sent.abort(), PATIENCE)
  try {
    const answer = await sent.answer
    if (answer.status < 200 || answer.status > 299) throw await failureOf(answer, upstream)
    return await use(answer)
  } catch (thrown) {
    throw answerFailure(thrown)
  } finally {
    clearTimeout(timer)
    sent.release()
  }
}

/** The failure that an answer is. */
export const failureOf = (answer: Answer, upstream: TaskUpstream): Promise<GatewayError> =>
  upstreamError(answer, READERS[upstream.format.format]!, candidateOf(upstream), upstream.task.model)

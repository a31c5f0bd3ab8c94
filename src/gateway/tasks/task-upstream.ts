import { defined } from '../../canonical/node.ts'
import type { UpstreamTask } from '../../canonical/task.ts'
import type { ChannelFormat } from '../../config/index.ts'
import { WRITERS } from '../../egress/index.ts'
import type { TaskWriter } from '../../egress/task-writer.ts'
import type { StoredTask } from '../../store/tasks.ts'
import { channelOfAccount } from '../../upstreams/accounts-of-channels.ts'
import type { Channel } from '../../upstreams/channel/index.ts'
import type { Target } from '../../upstreams/router.ts'

/** The upstream that works on a task, as currently configured. */
export interface TaskUpstream {
  readonly task: StoredTask
  readonly channel: Channel
  readonly format: ChannelFormat
  readonly writer: TaskWriter
}

/** Finds the upstream of a task. Returns undefined if its channel is no longer configured. */
export function upstreamOf(task: StoredTask, channels: readonly Channel[]): TaskUpstream | undefined {
  const channel = channelOfAccount(task.channel, channels)
  const format = channel?.config.formats.find(({ format }) => format === task.format)
  const writer = format && WRITERS[format.format]?.tasks
  return channel === undefined || format === undefined || writer === undefined
    ? undefined
    : { task, channel, format, writer }
}

/** Returns the upstream as a routing target, for reading and writing answers. */
export const targetOf = ({ task, channel, format }: TaskUpstream): Target => ({
  ...{ channel: channel.config, format, upstreamModel: task.upstreamModel },
  ...{ native: true, emulated: false, resting: false },
})

/** Returns the task in the form that identifies it in requests to its upstream. */
export const upstreamTask = ({ upstreamId = '', upstreamModel, from, result }: StoredTask): UpstreamTask => ({
  ...{ id: upstreamId, model: upstreamModel, from },
  ...defined({ files: result.task?.files }),
})

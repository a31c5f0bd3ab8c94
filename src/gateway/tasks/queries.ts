import type { IncomingMessage } from 'node:http'
import { GatewayError, invalid } from '../../canonical/error.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import { TASK_VARIANTS, type TaskVariant } from '../../canonical/task.ts'
import { excerpt } from '../../canonical/text.ts'
import { WRITERS } from '../../egress/index.ts'
import { isEnded, type StoredTask } from '../../store/tasks.ts'
import type { Reply } from '../call.ts'
import { relay } from '../relay.ts'
import { pageOf } from '../stored/index.ts'
import { checkCompleted } from './completed.ts'
import { fileHeaders, type OpenedFile } from './content.ts'
import { publicTask, requestOf } from './public-task.ts'

/** Operations on stored tasks. */
export type TaskAction = 'retrieve' | 'list' | 'remove' | 'content'

/** A query about tasks, as it arrived at an endpoint. */
export interface TaskQuery {
  /** Id of the query in errors. */
  readonly id: string
  /** Format of the answer. */
  readonly format: Format
  readonly action: TaskAction
  readonly message: IncomingMessage
  readonly queryKey?: string
  /** Id of the task, or an empty string for a list. */
  readonly task: string
  readonly query: { readonly [name: string]: string }
  readonly reply: Reply
}

/** Services for answering queries. */
export interface QueryContext {
  readonly owner: string
  /** Base URL of the gateway, without a trailing slash. */
  readonly base: string
  readonly heartbeat: number
  /** Returns the time for which the task's state counts as current, in milliseconds. */
  readonly freshOf: (task: StoredTask) => number
  find(owner: string, id: string): Promise<StoredTask | undefined>
  list(
    owner: string,
    page: ReturnType<typeof pageOf>,
  ): Promise<{ tasks: readonly StoredTask[]; more: boolean } | undefined>
  remove(task: StoredTask): Promise<void>
  open(task: StoredTask, variant: TaskVariant, headers: IncomingMessage['headers']): Promise<OpenedFile>
}

/** Writes a task in the format's wire form. */
export const taskBody = (task: StoredTask, format: Format, base: string): JsonObject =>
  WRITERS[format]!.result!(publicTask(task, base), requestOf(task)).wire.body

/** Answers a query. Throws GatewayError `not-found` for another key's task. */
export async function answerQuery(call: TaskQuery, context: QueryContext): Promise<void> {
  if (call.action === 'list') return call.reply.whole(200, {}, JSON.stringify(await listBody(call, context)))
  const task = await context.find(context.owner, call.task)
  if (task === undefined) throw unknownTask(call.task)
  if (call.action === 'content') return sendContent(call, task, context)
  if (call.action === 'remove') {
    await context.remove(task)
    return call.reply.whole(200, {}, JSON.stringify({ id: task.id, object: 'video.deleted', deleted: true }))
  }
  call.reply.whole(200, pollAfter(task, context), JSON.stringify(taskBody(task, call.format, context.base)))
}

/** Returns the header that sets the polling interval of OpenAI's client libraries. */
const pollAfter = (task: StoredTask, { freshOf }: QueryContext): { readonly [name: string]: string } =>
  isEnded(task) ? {} : { 'openai-poll-after-ms': String(freshOf(task)) }

async function listBody({ query, format }: TaskQuery, { owner, base, list }: QueryContext): Promise<JsonObject> {
  const page = pageOf(query)
  const found = await list(owner, page)
  if (found === undefined) throw noSuchCursor(page.after!)
  const data = found.tasks.map(task => taskBody(task, format, base))
  const [first, last] = [found.tasks[0], found.tasks.at(-1)]
  return { object: 'list', data, first_id: first?.id ?? null, last_id: last?.id ?? null, has_more: found.more }
}

async function sendContent(call: TaskQuery, task: StoredTask, { open, heartbeat }: QueryContext): Promise<void> {
  const { reply, message } = call
  const variant = variantOf(call.query['variant'])
  checkCompleted(task)
  const file = await open(task, variant, message.headers)
  const headers = { ...fileHeaders(task.id, variant, file.mediaType), ...file.headers }
  reply.abortable = { abort: () => file.close() }
  try {
    if (reply.gone) return
    if (file.status === 416) reply.whole(416, headers, '')
    else if (message.method === 'HEAD') sendHead(reply, file, headers)
    else await relay(reply, headers, { mediaType: file.mediaType, bytes: file.bytes }, heartbeat, file.status)
  } finally {
    reply.abortable = undefined
    file.close()
  }
}

function sendHead(reply: Reply, { status, bytes }: OpenedFile, headers: { readonly [name: string]: string }): void {
  reply.begin(bytes.size === undefined ? headers : { ...headers, 'content-length': String(bytes.size) }, status)
  reply.end('')
}

/** Reads the requested variant. Throws GatewayError `invalid-request` if the variant is unknown. */
function variantOf(name = 'video'): TaskVariant {
  const variant = TASK_VARIANTS.find(known => known === name)
  if (variant !== undefined) return variant
  throw invalid(`\`variant\` must be one of ${TASK_VARIANTS.map(known => `\`${known}\``).join(', ')}.`, 'variant')
}

export const unknownTask = (id: string): GatewayError =>
  new GatewayError({ kind: 'not-found', message: `There is no video '${excerpt(id)}'.`, code: 'video_not_found' })

const noSuchCursor = (after: string): GatewayError =>
  invalid(`There is no video '${excerpt(after)}' in this list.`, 'after')

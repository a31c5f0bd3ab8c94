import type { ExpressionBuilder } from 'kysely'
import { append } from '../canonical/lists.ts'
import { parseObject } from '../canonical/node.ts'
import type { Output } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { TASK_STATES, type TaskState, type UpstreamTask } from '../canonical/task.ts'
import { CLOCK_DIFFERENCE } from './store-clock.ts'
import type { Database, Tables, TaskRow } from './tables.ts'
import type { StoredState, StoredTask, TaskNews, TaskPage, Tasks, TaskTarget } from './tasks.ts'

/** Rank of each state. All final states have the same rank. */
const RANKS: { readonly [state in StoredState]: number } = {
  submitting: 0,
  queued: 1,
  'in-progress': 2,
  completed: 3,
  failed: 3,
}
const FINAL_RANK = 3

/** The repository of video tasks. Updates compare ranks, so that a state never moves backwards. */
export class TaskRepository implements Tasks {
  private readonly database: Database

  constructor(database: Database) {
    this.database = database
  }

  async begin(task: StoredTask): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database
      .insertInto('tasks')
      .values(rowOf(task))
      .onConflict(conflict => conflict.doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  }

  async move(owner: string, id: string, target: TaskTarget & Pick<StoredTask, 'reference'>): Promise<void> {
    const { channel, format, upstreamModel, reference = null } = target
    await this.update(owner, id)
      .set({ channel, format, upstream_model: upstreamModel, reference })
      .where('rank', '=', RANKS.submitting)
      .execute()
  }

  async find(owner: string, id: string): Promise<StoredTask | undefined> {
    const row = await this.select().where('owner', '=', owner).where('id', '=', id).executeTakeFirst()
    return row && taskOf(row)
  }

  async findByKey(owner: string, idempotencyKey: string): Promise<StoredTask | undefined> {
    const row = await this.select()
      .where('owner', '=', owner)
      .where('idempotency_key', '=', idempotencyKey)
      .executeTakeFirst()
    return row && taskOf(row)
  }

  async list(owner: string, { limit, order, after }: TaskPage) {
    const mark = after === undefined ? undefined : await this.find(owner, after)
    if (after !== undefined && mark === undefined) return undefined
    const comparison = order === 'asc' ? '>' : '<'
    let query = this.select().where('owner', '=', owner)
    if (mark !== undefined)
      query = query
        .where('created_at', order === 'asc' ? '>=' : '<=', mark.createdAt)
        .where(row => row.or([row('created_at', comparison, mark.createdAt), row('id', comparison, mark.id)]))
    const rows = await query
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(limit + 1)
      .execute()
    return { tasks: tasksOf(rows.slice(0, limit)), more: rows.length > limit }
  }

  async advance(owner: string, id: string, { state, result, upstreamId, polledAt }: TaskNews): Promise<boolean> {
    const mayBeOld = polledAt !== undefined && RANKS[state] < FINAL_RANK
    const { numUpdatedRows } = await this.update(owner, id)
      .set({
        ...{ state, rank: RANKS[state], result: JSON.stringify(result), misses: 0 },
        ...(upstreamId === undefined ? {} : { upstream_id: upstreamId }),
      })
      .where('rank', '<', FINAL_RANK)
      .where('rank', '<=', RANKS[state])
      .$if(mayBeOld, query => query.where('polled_at', '<=', polledAt!))
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }

  async claim(owner: string, id: string, now: number, before: number): Promise<boolean> {
    const { numUpdatedRows } = await this.update(owner, id)
      .set({ polled_at: now })
      .where(isPolledBefore(before, now))
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }

  async miss(owner: string, id: string): Promise<void> {
    await this.update(owner, id)
      .set(({ eb }) => ({ misses: eb('misses', '+', 1) }))
      .execute()
  }

  async due(now: number, interval: number, limit: number, channels: readonly string[]): Promise<readonly StoredTask[]> {
    if (channels.length === 0) return []
    const rows = await this.select()
      .where('rank', 'in', [RANKS.queued, RANKS['in-progress']])
      .where(isPolledBefore(now - interval, now))
      .where('channel', 'in', channels)
      .orderBy('polled_at')
      .limit(limit)
      .execute()
    return tasksOf(rows)
  }

  async submitting(): Promise<readonly StoredTask[]> {
    const rows = await this.select().where('rank', '=', RANKS.submitting).execute()
    return tasksOf(rows)
  }

  async withoutVideo(since: number, limit: number): Promise<readonly StoredTask[]> {
    const waiting = this.database
      .selectFrom('tasks')
      .where('state', '=', 'completed')
      .where('file_size', 'is', null)
      .where('created_at', '>=', since)
    const found: TaskRow[] = []
    for (const { channel } of await waiting.select('channel').distinct().execute()) {
      const ofChannel = waiting.selectAll().where('channel', '=', channel)
      append(found, await ofChannel.orderBy('created_at').limit(limit).execute())
    }
    return tasksOf(found)
  }

  async withFiles(): Promise<readonly StoredTask[]> {
    const rows = await this.select().where('file_size', '>', 0).orderBy('created_at').execute()
    // Tasks of damaged rows are included, because their files would be deleted otherwise.
    return rows.map(row => taskOf(row, parseObject(row.output) ?? {}, parseObject(row.result) ?? {}))
  }

  async setFileSize(owner: string, id: string, size: number | undefined): Promise<boolean> {
    const { numUpdatedRows } = await this.update(owner, id)
      .set({ file_size: size ?? null })
      .executeTakeFirst()
    return numUpdatedRows === 1n
  }

  async skipFile(owner: string, id: string): Promise<void> {
    await this.update(owner, id).set({ file_size: 0 }).where('file_size', 'is', null).execute()
  }

  async drop(owner: string, id: string): Promise<void> {
    await this.database.deleteFrom('tasks').where('owner', '=', owner).where('id', '=', id).execute()
  }

  /** Selects tasks. */
  private select() {
    return this.database.selectFrom('tasks').selectAll()
  }

  /** Updates one task. */
  private update(owner: string, id: string) {
    return this.database.updateTable('tasks').where('owner', '=', owner).where('id', '=', id)
  }
}

/** Selects tasks that were not polled since a time, unless by a wrong clock. */
const isPolledBefore =
  (before: number, now: number) =>
  ({ or, eb }: ExpressionBuilder<Tables, 'tasks'>) =>
    or([eb('polled_at', '<=', before), eb('polled_at', '>', now + CLOCK_DIFFERENCE)])

const rowOf = (task: StoredTask): TaskRow => ({
  ...{ owner: task.owner, id: task.id, model: task.model, channel: task.channel, format: task.format },
  ...{ upstream_model: task.upstreamModel, upstream_id: task.upstreamId ?? null, made_from: task.from },
  ...{ state: task.state, rank: RANKS[task.state], output: JSON.stringify(task.output), prompt: task.prompt ?? null },
  ...{ result: JSON.stringify(task.result), idempotency_key: task.idempotencyKey ?? null },
  ...{ reference: task.reference ?? null, remix_of: task.remixOf ?? null, worker: task.worker, misses: task.misses },
  ...{
    created_at: task.createdAt,
    polled_at: task.polledAt,
    expires_at: task.expiresAt,
    file_size: task.fileSize ?? null,
  },
})

/** Builds tasks, without those of damaged rows, which only a lookup by id reports. */
const tasksOf = (rows: readonly TaskRow[]): readonly StoredTask[] =>
  rows.flatMap(row => {
    const [output, result] = [parseObject(row.output), parseObject(row.result)]
    return output === undefined || result === undefined ? [] : [taskOf(row, output, result)]
  })

function taskOf(row: TaskRow, output = JSON.parse(row.output), result = JSON.parse(row.result)): StoredTask {
  const known: readonly string[] = TASK_STATES
  return {
    ...{ owner: row.owner, id: row.id, model: row.model, channel: row.channel, format: row.format },
    ...{ upstreamModel: row.upstream_model, from: row.made_from as UpstreamTask['from'] },
    state: known.includes(row.state) ? (row.state as TaskState) : 'submitting',
    ...{ output: output as Output, result: result as CanonicalResult },
    ...{ worker: row.worker, misses: Number(row.misses), createdAt: Number(row.created_at) },
    ...{ polledAt: Number(row.polled_at), expiresAt: Number(row.expires_at) },
    ...(row.upstream_id === null ? {} : { upstreamId: row.upstream_id }),
    ...(row.prompt === null ? {} : { prompt: row.prompt }),
    ...(row.idempotency_key === null ? {} : { idempotencyKey: row.idempotency_key }),
    ...(row.reference === null ? {} : { reference: row.reference }),
    ...(row.remix_of === null ? {} : { remixOf: row.remix_of }),
    ...(row.file_size === null ? {} : { fileSize: Number(row.file_size) }),
  }
}

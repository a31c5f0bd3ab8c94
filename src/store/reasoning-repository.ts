import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import type { FoundReasoning, ReasoningChange } from './shared-records.ts'
import type { Database } from './tables.ts'

/** Names per statement: engines limit the number of parameters. */
const NAMES_PER_STATEMENT = 200
/** Reasoning deleted per statement. The event loop runs in between. */
const ROWS_PER_DELETE = 50

/** The repository of encrypted reasoning, found by the names of the tool calls that follow it. */
export class ReasoningRepository {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async change(changes: readonly ReasoningChange[]): Promise<void> {
    await this.database.transaction().execute(async one => {
      for (const { names, reasoning } of changes) {
        await forget(one, names.flat())
        if (reasoning === undefined) continue
        const { id, text, expiresAt } = reasoning
        await one.insertInto('thoughts').values({ id, text, expires_at: expiresAt }).execute()
        for (const rows of batches(rowsOf(id, names)))
          await one
            .insertInto('thought_names')
            .values([...rows])
            .onConflict(conflict =>
              conflict
                .column('name')
                .doUpdateSet(({ ref }) => ({ thought: ref('excluded.thought'), step: ref('excluded.step') })),
            )
            .execute()
      }
    })
  }

  async find(names: readonly string[]): Promise<readonly FoundReasoning[]> {
    const found = new Map<string, FoundReasoning>()
    for (const batch of batches(names)) for (const one of await this.findBatch(batch)) found.set(one.id, one)
    return [...found.values()]
  }

  /** Reads reasoning and its names in one statement, because another process may replace them in between. */
  private async findBatch(names: readonly string[]): Promise<readonly FoundReasoning[]> {
    const { rows } = await sql<ReasoningRow>`
      with found(id) as (select distinct thought from thought_names where name in (${sql.join(names)}))
      select thoughts.id, thoughts.text, thoughts.expires_at, null as name, 0 as step from thoughts
        where thoughts.id in (select id from found) and thoughts.expires_at > ${this.now()}
      union all
      select thought, null, 0, name, step from thought_names where thought in (select id from found)`.execute(
      this.database,
    )
    const byId = Map.groupBy(rows, ({ id }) => id)
    return rows.flatMap(({ id, text, expires_at }) =>
      text === null
        ? []
        : {
            ...{ id, text, expiresAt: Number(expires_at) },
            names: byId.get(id)!.flatMap(({ name, step }) => (name === null ? [] : { name, step: Number(step) })),
          },
    )
  }

  /** Deletes reasoning that expired before a time, in Unix milliseconds. */
  async sweep(before: number): Promise<void> {
    for (;;) {
      const rows = await this.database
        .selectFrom('thoughts')
        .select('id')
        .where('expires_at', '<=', before)
        .limit(ROWS_PER_DELETE)
        .execute()
      if (rows.length === 0) return
      const ids = rows.map(({ id }) => id)
      await this.database.deleteFrom('thought_names').where('thought', 'in', ids).execute()
      await this.database.deleteFrom('thoughts').where('id', 'in', ids).execute()
      await yieldToEventLoop()
    }
  }
}

/** Reasoning without a name, or one name of reasoning without its text. */
interface ReasoningRow {
  readonly id: string
  readonly text: string | null
  readonly expires_at: number
  readonly name: string | null
  readonly step: number
}

async function forget(database: Database, names: readonly string[]): Promise<void> {
  for (const batch of batches(names)) await database.deleteFrom('thought_names').where('name', 'in', batch).execute()
}

/** Rows of the names. A duplicate name belongs to the last tool call. */
function rowsOf(reasoningId: string, names: readonly (readonly string[])[]) {
  const rows = new Map<string, { readonly name: string; readonly thought: string; readonly step: number }>()
  for (const [step, batch] of names.entries())
    for (const name of batch) rows.set(name, { name, thought: reasoningId, step })
  return [...rows.values()]
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += NAMES_PER_STATEMENT)
    yield items.slice(from, from + NAMES_PER_STATEMENT)
}

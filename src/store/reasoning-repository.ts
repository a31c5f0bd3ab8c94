import type { FoundReasoning, ReasoningChange } from './shared-records.ts'
import type { Database } from './tables.ts'

/** Names per statement: engines limit the number of parameters. */
const NAMES_PER_STATEMENT = 200

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
    const ids = new Set<string>()
    for (const batch of batches(names)) {
      const rows = await this.database
        .selectFrom('thought_names')
        .select('thought')
        .distinct()
        .where('name', 'in', batch)
        .execute()
      for (const { thought } of rows) ids.add(thought)
    }
    const found: FoundReasoning[] = []
    for (const batch of batches([...ids])) for (const one of await this.all(batch)) found.push(one)
    return found
  }

  private async all(ids: readonly string[]): Promise<readonly FoundReasoning[]> {
    const rows = await this.database
      .selectFrom('thoughts')
      .selectAll()
      .where('id', 'in', ids)
      .where('expires_at', '>', this.now())
      .execute()
    const names = await this.database.selectFrom('thought_names').selectAll().where('thought', 'in', ids).execute()
    const byReasoning = Map.groupBy(names, ({ thought }) => thought)
    return rows.map(({ id, text, expires_at }) => ({
      ...{ id, text, expiresAt: Number(expires_at) },
      names: (byReasoning.get(id) ?? []).map(({ name, step }) => ({ name, step: Number(step) })),
    }))
  }

  /** Deletes reasoning that expired before a time, in Unix milliseconds. */
  async sweep(before: number): Promise<void> {
    for (;;) {
      const rows = await this.database
        .selectFrom('thoughts')
        .select('id')
        .where('expires_at', '<=', before)
        .limit(NAMES_PER_STATEMENT)
        .execute()
      if (rows.length === 0) return
      const ids = rows.map(({ id }) => id)
      await this.database.deleteFrom('thought_names').where('thought', 'in', ids).execute()
      await this.database.deleteFrom('thoughts').where('id', 'in', ids).execute()
    }
  }
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

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
/** Id of a key of the crowd. */
export const idOf = (at: number) => at.toString(16).padStart(32, '0')

/** Adds keys, groups and settings of up to 2000 models to the SQLite store in a folder, as commands of another process do. */
export function crowd(path: string, count: number): void {
  const database = new DatabaseSync(join(path, 'interlingua.sqlite'), { timeout: 10_000 })
  database.exec('begin immediate')
  const settings = JSON.stringify({ limits: {}, enabled: true })
  const group = JSON.stringify({ models: ['*'], limits: {}, onLoss: 'show' })
  const statements = {
    key: database.prepare(
      'insert into access_keys (id, name, group_name, settings, created_at, version) values (?, ?, ?, ?, 1, 5)',
    ),
    secret: database.prepare(
      `insert into access_secrets (hash, key_id, prefix, last_four, created_at) values (?, ?, 'il', 'abcd', 1)`,
    ),
    group: database.prepare(
      'insert into access_groups (name, settings, created_at, dropped, version) values (?, ?, 1, 0, 5)',
    ),
    model: database.prepare(
      `insert into stored_config (kind, name, settings, created_at, updated_at, dropped, version) values ('model', ?, '{"context":1000}', 1, 1, 0, 5)`,
    ),
  }
  for (let at = 0; at < count; at++) {
    statements.key.run(idOf(at), `key-${at}`, `group-${at}`, settings)
    statements.secret.run(hash(`secret-${at}`), idOf(at))
    statements.group.run(`group-${at}`, group)
    if (at < 2000) statements.model.run(`model-${at}`)
  }
  database.exec(
    'insert into access_versions (id, begun, version) values (1, 1, 5) on conflict (id) do update set version = version + 5',
  )
  database.exec('commit')
  database.close()
}

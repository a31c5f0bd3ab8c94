import { userInfo } from 'node:os'
import type { Config } from '../config/index.ts'
import { changesBetween } from '../operators/admin/audit.ts'
import type { Audited } from '../store/audit-records.ts'
import { freshId } from '../store/usage/request-id.ts'
import type { Terminal } from './outcome.ts'
import type { Repositories } from './with-store.ts'

/** Store, config and terminal of a command. */
export interface CommandContext {
  readonly store: Repositories
  readonly config: Config
  readonly terminal: Terminal
}

/** Change that a command has made. */
export interface CommandChange {
  /** The operation of the admin API that does the same, such as `changeKey`. */
  readonly action: string
  readonly kind: Audited
  /** Id of the thing, or its name if it has no id. */
  readonly target: string
  readonly name: string
  /** The thing before the change, as the admin API shows it. Absent if it is new. */
  readonly before?: object | undefined
  /** The thing after the change. Absent if it was deleted. */
  readonly after?: object | undefined
}

/**
 * Records a change in the audit log, under the name of the operating system's user. A failure is printed, because the
 * change itself is done.
 */
export async function recordChange(
  { store, config, terminal }: CommandContext,
  { before, after, ...change }: CommandChange,
): Promise<void> {
  if (config.usage.retention === 0) return
  const entry = { id: freshId(), at: Date.now(), actor: systemUser(), actorKind: 'command' as const }
  try {
    await store.audit.add({ ...entry, ...change, changes: changesBetween(before, after) })
  } catch (thrown) {
    terminal.fault(`The change is missing in the audit log: ${(thrown as Error).message}`)
  }
}

/** Returns the name of the user who runs the command, or the number of one without a name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

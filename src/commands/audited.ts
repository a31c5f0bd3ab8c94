import { userInfo } from 'node:os'
import type { Config } from '../config/index.ts'
import { type Recording, recordingOf } from '../operators/admin/audit.ts'

/**
 * Returns the recording of a command's changes in the audit log, under the name of the operating system's user.
 *
 * @param action operation of the admin API that does the same, such as `changeKey`.
 */
export const recordingFor = (config: Config, action: string): Recording =>
  recordingOf(config, { actor: systemUser(), actorKind: 'command', action })

/** Returns the name of the user who runs the command, or the number of one without a name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

import type { Path } from '../../canonical/loss.ts'
import type { Message, Role } from '../../canonical/request.ts'
import { FORMAT, type Placed, type WriteContext } from './content.ts'

export const isSystem = (role: Role): boolean => role === 'system' || role === 'developer'

/** A turn with its blocks, before its role is determined. */
export interface WrittenTurn {
  readonly message: Message
  readonly path: Path
  readonly placed: readonly Placed[]
}

const roleOf = ({ role }: Message, { dialect }: WriteContext): string => {
  if (role === 'tool') return 'user'
  if (!isSystem(role)) return role
  return dialect.system_turns === false ? 'user' : 'system'
}

/**
 * The role of each turn. A system turn amid the others is allowed right after a user turn, if an assistant turn or
 * nothing follows; elsewhere it becomes a user turn ("Mid-conversation system messages", platform.claude.com, read on
 * 2026-11-22; trap 42).
 */
export function rolesOf(turns: readonly WrittenTurn[], context: WriteContext): readonly string[] {
  const roles = turns.map(({ message }) => roleOf(message, context))
  if (!roles.includes('system')) return roles
  let run: number[] = []
  let before: string | undefined
  const settle = (next: string | undefined): void => {
    const isOne = run.length < 2 || !run.some(at => hasExtras(turns[at]!))
    const stands = isOne && before === 'user' && (next === undefined || next === 'assistant')
    if (!stands) for (const at of run) roles[at] = 'user'
    run = []
  }
  for (const [at, { placed }] of turns.entries()) {
    if (placed.length === 0) continue
    if (roles[at] === 'system') run.push(at)
    else {
      settle(roles[at])
      before = roles[at]
    }
  }
  settle(undefined)
  return roles
}

export function reportRole({ role }: Message, became: string, path: Path, { losses }: WriteContext): void {
  if (!isSystem(role) || became === role) return
  losses.change([...path, 'role'], became, became === 'user' ? 'no-system-turns' : 'no-developer-role')
}

/** A turn with extras of the format is joined to no other. */
const hasExtras = ({ message }: WrittenTurn): boolean => message.extras?.[FORMAT] !== undefined

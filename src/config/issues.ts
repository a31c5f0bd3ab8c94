import type * as v from 'valibot'
import type { Path } from '../canonical/loss.ts'

/** A fault in a config value, with its path. */
export interface PathFault {
  readonly path: Path
  readonly message: string
}

/** Converts the issues that a schema found. */
export const faultsOf = (issues: readonly v.BaseIssue<unknown>[] = []): PathFault[] =>
  issues.flatMap(innerIssues).map(({ path = [], message }) => ({
    path: path.map(step => step.key as string | number),
    message,
  }))

/** Replaces a union's error with the errors of the alternative that the operator most likely meant. */
function innerIssues(issue: v.BaseIssue<unknown>): v.BaseIssue<unknown>[] {
  const depth = issue.path?.length ?? 0
  const list = Array.isArray(issue.input)
  const inner = (issue.type === 'union' ? (issue.issues ?? []) : []).filter(
    one => one.path !== undefined && (one.path[0].type === 'array') === list,
  )
  if (inner.length === 0) return [issue]
  return inner.map(one => ({ ...one, path: [...(issue.path ?? []).slice(0, depth), ...one.path!] }) as typeof issue)
}

import type { Check, Status } from '../checks.ts'
import { printable } from './printable.ts'
import type { Results } from './results.ts'

/** First word in a check's line. Passed checks have no line. */
const MARKS: { readonly [status in Status]?: string } = {
  fail: 'FAIL',
  'harness-error': 'HARNESS ERROR',
  advice: 'advice',
}

/** Returns the lines of a check that did not pass. */
export const lineOf = ({ id, status, says, source, details }: Check): string =>
  [`${MARKS[status]} ${id}`, `  ${says} (${source})`, ...(details ?? []).map(detail => `  ${detail}`)]
    .map(printable)
    .join('\n')

/**
 * Formats the results for a terminal. Each failure is shown with its rule, its source and the command that reproduces
 * it.
 */
export function summary({ checks, counts, meanings, cells, target, mode }: Results): string {
  const commands = new Map(cells.map(({ id, command }) => [id, command]))
  const failures = checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
  const advice = checks.filter(({ status }) => status === 'advice')
  const failed = failures.map(check => `${lineOf(check)}\n  Reproduce with: ${commands.get(check.cell)}`)
  const losses = ['lost-silently', 'lost-reported', 'changed', 'added'] as const
  return [
    ...advice.map(lineOf),
    ...failed,
    `${printable(target.version === undefined ? target.name : `${target.name} ${target.version}`)}: ${cells.length} cells, ${checks.length} checks: ${counts.pass} passed, ${counts.fail} failed, ${counts.advice} advice, ${counts.unsupported} unsupported, ${counts['harness-error']} harness errors`,
    // Live runs compare no facts.
    ...(mode === 'live'
      ? []
      : [`Facts: ${meanings.kept ?? 0} kept, ${losses.map(one => `${meanings[one] ?? 0} ${one}`).join(', ')}`]),
  ].join('\n')
}

/** Returns the number of checks that count as a judgement of the target. */
export const judgedOf = ({ counts }: Results): number => counts.pass + counts.fail + counts.advice

/** Returns true if the command must exit with status 1. */
export const hasFailed = ({ counts }: Results): boolean => counts.fail + counts['harness-error'] > 0

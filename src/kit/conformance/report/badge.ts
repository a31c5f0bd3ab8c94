import type { Results } from './results.ts'

/**
 * Returns the results as a badge in the format of shields.io endpoints (https://shields.io/badges/endpoint-badge).
 * Advice and unsupported checks are not counted.
 */
export function badge({ counts, interrupted }: Results): string {
  const failed = counts.fail + counts['harness-error']
  const judged = counts.pass + failed
  const [message, color] =
    judged === 0
      ? ['nothing judged', 'lightgrey']
      : interrupted
        ? [`${counts.pass} of ${judged}, interrupted`, 'lightgrey']
        : [`${counts.pass} of ${judged}`, failed === 0 ? 'brightgreen' : failed / judged < 0.05 ? 'yellow' : 'red']
  return `${JSON.stringify({ schemaVersion: 1, label: 'conformance', message, color })}\n`
}

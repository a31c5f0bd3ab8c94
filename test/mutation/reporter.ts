import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Status, TestedMutant } from './mutant.ts'

/* A plugin of Stryker: writes each result when it is known, so that a run that is stopped loses none. */

/** A result as Stryker reports it. */
interface Result {
  readonly fileName: string
  readonly mutatorName: string
  readonly replacement: string
  readonly location: { readonly start: TestedMutant['start']; readonly end: TestedMutant['end'] }
  readonly status: Status
  readonly statusReason?: string
}

/** Message of a test that vitest ended because it took too long. */
const TIMED_OUT = /^(?:Test|Hook) timed out in /

function write({ fileName, mutatorName, replacement, location, status, statusReason = '' }: Result): void {
  const mutant: TestedMutant = {
    file: relative(process.cwd(), fileName),
    mutator: mutatorName,
    replacement,
    ...{ start: location.start, end: location.end },
    status: status === 'Killed' && TIMED_OUT.test(statusReason) ? 'Timeout' : status,
    because: statusReason.split('\n')[0]!.slice(0, 300),
  }
  appendFileSync(process.env['MUTATION_RESULTS']!, `${JSON.stringify(mutant)}\n`)
}

export const strykerPlugins = [{ kind: 'Reporter', name: 'lines', value: { onMutantTested: write } }]

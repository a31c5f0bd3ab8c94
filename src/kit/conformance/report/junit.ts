import type { Check } from '../checks.ts'
import type { CellDocument, Results } from './results.ts'

/* Writes the results as JUnit XML for CI servers: one test suite per cell, one test case per check. */

/** Characters that XML 1.0 does not allow, not even escaped. */
const FORBIDDEN_CHARACTERS = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(FORBIDDEN_CHARACTERS, '\ufffd')
    .replace(/[&<>"]/g, character => ENTITIES[character]!)

/** Element that marks the outcome within a test case. Passed checks and advice have none. */
const ELEMENTS: { readonly [status in Check['status']]?: string } = {
  fail: 'failure',
  'harness-error': 'error',
  unsupported: 'skipped',
}

function caseOf({ rule, cell, status, says, source, details = [] }: Check, command: string): string {
  const head = `<testcase classname="${escaped(cell)}" name="${escaped(rule)}"`
  const element = ELEMENTS[status]
  if (element === undefined) return `${head}/>`
  const text = [`${says} (${source})`, ...details, `Reproduce with: ${command}`].join('\n')
  return `${head}><${element} message="${escaped(says)}">${escaped(text)}</${element}></testcase>`
}

function suiteOf({ id, took = 0, command }: CellDocument, checks: readonly Check[], started: string): string {
  const count = (status: Check['status']): number => checks.filter(check => check.status === status).length
  const counts = `tests="${checks.length}" failures="${count('fail')}" errors="${count('harness-error')}" skipped="${count('unsupported')}"`
  const about = `name="${escaped(id)}" timestamp="${started}" time="${took / 1000}"`
  return [`<testsuite ${about} ${counts}>`, ...checks.map(check => caseOf(check, command)), '</testsuite>'].join('\n')
}

/** Suite of a run that ended before all its cells had run, so that what is missing does not count as passed. */
const INTERRUPTED = [
  '<testsuite name="run" tests="1" failures="0" errors="1" skipped="0">',
  '<testcase classname="run" name="complete"><error message="The run was interrupted before all cells had run."/></testcase>',
  '</testsuite>',
]

/** Returns the results as a JUnit XML document. */
export function junit({ cells, checks, started, interrupted }: Results): string {
  const byCell = Map.groupBy(checks, ({ cell }) => cell)
  const suites = cells.map(cell => suiteOf(cell, byCell.get(cell.id) ?? [], started))
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="conformance">',
    ...suites,
    ...(interrupted ? INTERRUPTED : []),
    '</testsuites>',
    '',
  ].join('\n')
}

import type { Check, Counts } from '../checks.ts'
import { countsOf } from '../checks.ts'
import { printable } from './printable.ts'
import type { CellDocument, Results } from './results.ts'

/* Writes the results as Markdown: a table of caller formats by upstream formats, and the failures. */

/** Maximum number of failures listed. Further failures are only counted. */
const MAX_LISTED = 100

/** Returns a code span, which ends at a fence as long as its own (https://spec.commonmark.org/0.31.2/#code-spans). */
const code = (text: string): string => {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  const fence = '`'.repeat(longest + 1)
  const padding = /^`|`$/.test(text) ? ' ' : ''
  return `${fence}${padding}${printable(text).replaceAll('|', '\\|')}${padding}${fence}`
}

/** Returns a sentence in which a name that a target chose is neither HTML nor a link or an image. */
const sentence = (text: string): string => printable(text).replaceAll('<', '&lt;').replaceAll('](', '\\](')

/**
 * Returns one table field: the number of passed checks out of all judged ones, and the number of silently lost facts.
 */
function fieldOf(checks: readonly Check[]): string {
  const counts: Counts = countsOf(checks)
  const judged = counts.pass + counts.fail + counts['harness-error']
  if (judged === 0) return counts.unsupported > 0 ? 'unsupported' : '–'
  const silent = checks.filter(({ meaning }) => meaning === 'lost-silently').length
  const mark = judged === counts.pass ? '✓' : '✗'
  return `${mark} ${counts.pass}/${judged}${silent > 0 ? `, ${silent} lost silently` : ''}`
}

function tableOf(cells: readonly CellDocument[], checks: readonly Check[]): string[] {
  const byCell = Map.groupBy(checks, ({ cell }) => cell)
  const callers = [...new Set(cells.map(({ caller }) => caller))]
  const upstreams = [...new Set(cells.map(({ upstream }) => upstream ?? 'the target'))]
  const field = (caller: string, upstream: string): string =>
    fieldOf(
      cells
        .filter(cell => cell.caller === caller && (cell.upstream ?? 'the target') === upstream)
        .flatMap(({ id }) => byCell.get(id) ?? []),
    )
  return [
    `| caller ↓ upstream → | ${upstreams.join(' | ')} |`,
    `|---|${upstreams.map(() => '---|').join('')}`,
    ...callers.map(caller => `| ${caller} | ${upstreams.map(upstream => field(caller, upstream)).join(' | ')} |`),
  ]
}

function failureOf({ id, says, source, details = [] }: Check, command: string): string[] {
  return [
    `### ${code(id)}`,
    '',
    `${sentence(says)} Source: ${source}`,
    '',
    ...details.map(detail => `- ${code(detail)}`),
    `- Reproduce with: ${code(command)}`,
    '',
  ]
}

/** Returns the results as a Markdown document. */
export function markdown({ target, kit, started, interrupted, cells, checks, counts }: Results): string {
  const commands = new Map(cells.map(({ id, command }) => [id, command]))
  const failures = checks.filter(({ status }) => status === 'fail' || status === 'harness-error')
  const rest = failures.length - MAX_LISTED
  const name = sentence(target.version === undefined ? target.name : `${target.name} ${target.version}`)
  return [
    `# Conformance of ${name}`,
    '',
    `Kit ${kit}, ${started.slice(0, 10)}. ${cells.length} cells, ${checks.length} checks: ${counts.pass} passed, ${counts.fail} failed, ${counts.advice} advice, ${counts.unsupported} unsupported, ${counts['harness-error']} harness errors.${interrupted ? ' The run was interrupted before all cells had run.' : ''}`,
    '',
    ...tableOf(cells, checks),
    '',
    ...(failures.length === 0 ? [] : ['## Failures', '']),
    ...failures.slice(0, MAX_LISTED).flatMap(check => failureOf(check, commands.get(check.cell) ?? '')),
    ...(rest > 0 ? [`Failures not listed here: ${rest}. See the results file.`, ''] : []),
  ].join('\n')
}

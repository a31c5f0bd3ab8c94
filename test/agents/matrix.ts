import type { Cell, Outcome } from './cell.ts'
import { excuseOf } from './known.ts'
import { SCENARIOS } from './scenarios.ts'

const MARKS = { passed: '✓', failed: '✗', known: '~', absent: '·' } as const

/** Returns a table with clients as rows, upstreams as columns, and a mark for every scenario in each field. */
export function matrix(cells: readonly Cell[], outcomes: readonly Outcome[]): string {
  const clients = [...new Set(cells.map(({ client }) => client.name))]
  const upstreams = [...new Set(cells.map(({ upstream }) => upstream.name))]
  const width = Math.max(...upstreams.map(name => name.length)) + 2
  const first = Math.max(...clients.map(name => name.length)) + 2
  const markOf = (client: string, upstream: string, scenario: string): string => {
    const outcome = outcomes.find(
      ({ cell }) => cell.client.name === client && cell.upstream.name === upstream && cell.scenario.name === scenario,
    )
    if (outcome === undefined) return MARKS.absent
    if (outcome.faults.length === 0) return MARKS.passed
    return excuseOf(outcome.cell) === undefined ? MARKS.failed : MARKS.known
  }
  const row = (client: string): string =>
    client.padEnd(first) +
    upstreams
      .map(name =>
        SCENARIOS.map(({ name: scenario }) => markOf(client, name, scenario))
          .join('')
          .padEnd(width),
      )
      .join('')
  const head = ' '.repeat(first) + upstreams.map(name => name.padEnd(width)).join('')
  return [head, ...clients.map(row), '', `marks: ${SCENARIOS.map(({ name }) => name).join(', ')}`]
    .map(line => line.trimEnd())
    .join('\n')
}

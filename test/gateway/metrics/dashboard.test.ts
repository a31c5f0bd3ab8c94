import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { METERS } from '../../../src/gateway/metrics/meters.ts'
import { processFamilies } from '../../../src/gateway/metrics/process.ts'
import { COUNTERS, HISTOGRAMS } from '../../../src/gateway/metrics/request-families.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const DASHBOARD: { readonly panels: readonly Panel[]; readonly templating: object } = JSON.parse(
  readFileSync('docs/grafana-dashboard.json', 'utf8'),
)

processFamilies()
const EXISTING = new Set([
  ...Object.keys(METERS),
  ...Object.keys(COUNTERS),
  ...Object.keys(HISTOGRAMS).flatMap(name => ['bucket', 'sum', 'count'].map(part => `${name}_${part}`)),
  ...processFamilies().map(({ name }) => name),
])

const METRIC = /\b(?:interlingua|gen_ai|process|nodejs)_\w+(?=\{)/g
/** Labels by which each counter and meter can be selected and summed up. */
const BY = /sum by \(([^)]*)\) \(rate\((\w+)/g

const queries = DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

test('every metric of the dashboard exists, and every one of the gateway is on it', () => {
  const named = new Set(queries.flatMap(query => query.match(METRIC) ?? []))
  expect([...named].filter(name => !EXISTING.has(name))).toEqual([])
  for (const query of queries) expect(query).toMatch(METRIC)
  const own = [...Object.keys(METERS), ...Object.keys(COUNTERS)]
  expect(own.filter(name => !named.has(name))).toEqual([])
})

test('counters are summed up and selected by labels that they have', () => {
  const faults = queries.flatMap(query =>
    [...query.matchAll(BY)].flatMap(([, labels, name]) => {
      const counter = COUNTERS[name!]
      if (counter === undefined) return []
      const known: readonly string[] = [...counter.by, 'error', 'kind', 'hit', 'instance']
      const selected = [...(/\{(.*?)\}/.exec(query)?.[1] ?? '').matchAll(/(\w+)=/g)].map(([, label]) => label!)
      return [...labels!.split(', '), ...selected].filter(label => !known.includes(label)).map(label => [name, label])
    }),
  )
  expect(faults).toEqual([])
})

test('panels have ids and titles of their own', () => {
  for (const field of ['id', 'title'] as const)
    expect(new Set(DASHBOARD.panels.map(panel => panel[field])).size).toBe(DASHBOARD.panels.length)
})

import { askedOf } from './asked.ts'
import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import { leavesOf } from './facts.ts'
import { type Asked, type Format, schemaOf } from './format.ts'
import { schemaFaults } from './schema.ts'
import { schemaRule } from './transport-rules.ts'
import type { Arrival } from './upstream.ts'

/* Judges the requests that reached the upstream. */

const OURS = 'docs/decisions/2026-11-23-conformance-kit.md'

const ARRIVED = {
  id: 'arrives',
  level: 'must',
  source: OURS,
  says: 'A request reaches the upstream, in the format of the upstream.',
} as const
const ONCE = {
  id: 'once',
  level: 'should',
  source: OURS,
  says: 'One request of a caller is one request to the upstream.',
} as const

/** Whether a target may retry after this error, so that several requests are allowed. */
const isRetried = ({ status }: Arrival): boolean => status === 429 || status >= 500

/** Checks the requests that reached the upstream. `isReported`: the target reported losses to its caller. */
export function judgeRequest(
  { caller, upstream, scenario, mode }: Cell,
  arrivals: readonly Arrival[],
  sent: Asked,
  isReported: boolean,
  list: CheckList,
): void {
  if (upstream === undefined) return
  const arrival = arrivals.find(({ format }) => format === upstream.name)
  const others = arrivals.map(({ format, path }) => `A request came to ${path} (${format}).`)
  list.rule('request', ARRIVED, arrival === undefined ? [...others, 'None came in the format of the upstream.'] : [])
  if (arrival === undefined) return
  const tooMany = arrivals.length > 1 && !isRetried(arrival)
  list.rule('request', ONCE, tooMany ? [`${arrivals.length} requests came.`] : [])
  const { name, exceptions } = upstream
  const { body, path, files } = arrival
  const schema = schemaOf(upstream, 'request', path)
  if (schema !== undefined) list.rule('request', schemaRule(name), schemaFaults(name, schema, body, exceptions))
  list.rules(upstream.rules, 'request', upstream.lint.request(body, arrival.sent.headers, path))
  const facts = (format: Format, asked: Asked) => leavesOf(format.request(asked.body, asked.path, asked.files))
  const written = scenario.wires[name]!.request
  const verdicts = compare({
    source: facts(caller, sent),
    reachable: facts(upstream, askedOf(upstream, written, mode === 'stream', { model: 'm', answers: [] })),
    found: facts(upstream, { method: arrival.sent.method, path, body, files }),
    isNative: caller === upstream,
  })
  list.facts('request', verdicts, isReported)
}

import { askedOf } from './asked.ts'
import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import { compare } from './compare.ts'
import { leavesOf } from './facts.ts'
import { type Asked, type Format, schemaOf } from './format.ts'
import { schemaFindings } from './schema.ts'
import type { StepRecord } from './step-record.ts'
import type { Arrival } from './upstream.ts'

/* Judges what reached the upstream. */

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

/** Strays that a check names. */
const MOST_STRAYS = 5

/** Whether retries of an error are to be expected: then several requests are fine. */
const isRetried = ({ status }: Arrival): boolean => status === 429 || status >= 500

/** Checks of the requests that reached the upstream. `isReported`: the target reported losses to its caller. */
export function judgeRequest(
  { caller, upstream, scenario, mode }: Cell,
  { arrivals, strays, asked }: StepRecord,
  isReported: boolean,
  list: CheckList,
): void {
  if (upstream === undefined) return
  const arrival = arrivals.find(({ format }) => format === upstream.name)
  const others = [
    ...arrivals.map(({ format, path }) => `A request came to ${path} (${format}).`),
    ...strays.slice(0, MOST_STRAYS).map(({ method, url }) => `${method} ${url} is no path of the format.`),
  ]
  list.rule('request', ARRIVED, arrival === undefined ? [...others, 'None came in the format of the upstream.'] : [])
  if (arrival === undefined) return
  const tooMany = arrivals.length > 1 && !isRetried(arrival)
  list.rule('request', ONCE, tooMany ? [`${arrivals.length} requests came.`] : [])
  const { name, exceptions } = upstream
  const { path, files } = arrival
  const body = upstream.asRead?.request(arrival.body) ?? arrival.body
  const schema = schemaOf(upstream, 'request', path)
  if (schema !== undefined) list.schema('request', name, [schemaFindings(name, schema, body, exceptions)])
  list.rules(upstream.rules, 'request', upstream.lint.request(body, arrival.sent.headers, path))
  const facts = (format: Format, asked: Asked) => leavesOf(format.request(asked.body, asked.path, asked.files))
  const written = scenario.wires[name]!.request
  const verdicts = compare({
    source: facts(caller, asked),
    reachable: facts(upstream, askedOf(upstream, written, mode === 'stream', { model: 'm', answers: [] })),
    found: facts(upstream, { method: arrival.sent.method, path, body, files }),
    isNative: caller === upstream,
  })
  list.facts('request', verdicts, isReported)
}

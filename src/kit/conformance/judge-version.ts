import type { Cell } from './cells.ts'
import type { CheckList } from './check-list.ts'
import type { Headers } from './format.ts'
import { parseJson } from './json.ts'
import type { Rule } from './rules.ts'
import { answerFindings } from './schema.ts'
import type { StepRecord } from './step-record.ts'

/* Judges the answers to requests with features that their version refuses. */

const REFUSES_FEATURE: Omit<Rule, 'on'> = {
  ...{ id: 'version.refused', level: 'should' },
  source: 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/CHANGELOG.md',
  says: 'A request with a feature that its version refuses is answered with 400.',
}

const BAD_REQUEST = 400

/**
 * Returns true if the version named in the caller's request, or an older version, refuses a feature that the scenario
 * uses.
 */
export function isRefused({ caller: { name, versions }, scenario }: Cell, headers: Headers): boolean {
  const since = scenario.refusedBy[name]
  if (versions === undefined || since === undefined) return false
  return versions.names.indexOf(versions.versionOf(headers) ?? '') >= versions.names.indexOf(since)
}

/** Checks that the target refuses such a request. Returns true if it did, so that the answer is judged as an error. */
export function judgeVersion({ caller }: Cell, { exchange }: StepRecord, list: CheckList): boolean {
  const { got } = exchange
  const hasRefused = got?.status === BAD_REQUEST
  list.rule('answer', REFUSES_FEATURE, hasRefused ? [] : [`The status is ${got?.status ?? 'missing'}.`])
  if (!hasRefused) return false
  const json = parseJson(got.body.toString('utf8'))
  const { schemas, exceptions, rules, lint, name } = caller
  if (schemas.error !== undefined) list.schema('error', name, [answerFindings(name, schemas.error, json, exceptions)])
  list.rules(rules, 'error', lint.error(got.status, json, got.headers))
  return true
}

import type { Check, Meaning, Status } from './checks.ts'
import type { FactVerdict } from './compare.ts'
import type { IsReported } from './reported-losses.ts'
import type { Rule, Subject, Violation } from './rules.ts'
import type { SchemaFindings } from './schema.ts'
import { nullableRule, schemaRule } from './transport-rules.ts'

type AnyRule = Omit<Rule, 'on'>

/** Facts whose loss is only advice, because formats and gateways may legitimately differ in them. */
const ADVISORY_FACTS = /(^|\.)order$|^stream$|^message$|\.strict$|^output\.name$/

/** Advisory facts whose change is a failure where nothing is translated. */
const NATIVE_FACTS = /(^|\.)order$/

const isAdvisory = ({ path, isNative }: FactVerdict): boolean =>
  ADVISORY_FACTS.test(path) && !(isNative && NATIVE_FACTS.test(path))

/** Facts where an addition is a failure. */
const CONTENT_FACTS = /^(system|turns|tools|toolChoice|output|candidates|inputs|vectors|query|documents|ranks|images)/

const excerpt = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'nothing'

/** Maximum number of schema findings listed in one check. */
const MAX_FINDINGS = 5

/** Identifies the cell that the checks belong to. */
export interface CheckedCell {
  readonly id: string
  readonly scenario: { readonly id: string }
}

export interface CheckedPart {
  /** Folder of the cell's scenario. */
  readonly scenarios?: string
  /** Step of the scenario, starting at 1. The rule ids of later steps contain it. */
  readonly step?: number
}

interface FactOutcome {
  readonly status: Status
  readonly meaning: Meaning
}

/**
 * Returns the status of a fact. A loss is not a failure if the target reported it or if its format makes it
 * unavoidable.
 */
function factOutcome(verdict: FactVerdict, isReported: boolean): FactOutcome {
  const { fate, expressible, path } = verdict
  if (fate === 'kept') return { status: 'pass', meaning: 'kept' }
  const worst: Status = isAdvisory(verdict) ? 'advice' : 'fail'
  if (fate === 'added') return { status: CONTENT_FACTS.test(path) ? worst : 'advice', meaning: 'added' }
  if (fate === 'changed') return { status: isReported ? 'advice' : worst, meaning: 'changed' }
  const meaning = isReported ? 'lost-reported' : 'lost-silently'
  if (!expressible) return { status: isReported ? 'pass' : 'advice', meaning }
  return { status: isReported ? 'advice' : worst, meaning }
}

/** Collects the checks of one cell. */
export class CheckList {
  readonly checks: Check[] = []
  private readonly cell: CheckedCell
  private readonly scenarios: string
  private readonly prefix: string

  constructor(cell: CheckedCell, { scenarios = 'conformance/scenarios', step = 1 }: CheckedPart = {}) {
    this.cell = cell
    this.scenarios = scenarios
    this.prefix = step === 1 ? '' : `step-${step}.`
  }

  /** Adds one check. The check passes if `details` is empty. A broken `should` rule only counts as advice. */
  rule(subject: string, { id, level, says, source }: AnyRule, details: readonly string[], status?: Status): void {
    const rule = `${subject}.${id}`
    const outcome = status ?? (details.length === 0 ? 'pass' : level === 'must' ? 'fail' : 'advice')
    const found = details.length > 0 ? { details } : {}
    this.checks.push({ ...this.labelsOf(rule), level, says, source, status: outcome, ...found })
  }

  /** Adds the checks of values against the published schema of a format. */
  schema(subject: Subject, format: string, findings: readonly SchemaFindings[]): void {
    const lines = (kind: keyof SchemaFindings): string[] =>
      [...new Set(findings.flatMap(one => one[kind]))].slice(0, MAX_FINDINGS)
    this.rule(subject, schemaRule(format), lines('faults'))
    this.rule(subject, nullableRule(format), lines('absent'))
  }

  /** Adds a check for each rule of a subject, based on the collected violations. */
  rules(rules: readonly Rule[], on: Subject, violations: readonly Violation[]): void {
    const rulesOfSubject = rules.filter(rule => rule.on === on)
    for (const { rule } of violations)
      if (!rulesOfSubject.some(({ id }) => id === rule)) throw new Error(`There is no rule ${rule} on ${on}.`)
    for (const rule of rulesOfSubject)
      this.rule(
        on,
        rule,
        violations.filter(({ rule: broken }) => broken === rule.id).map(({ detail }) => detail),
      )
  }

  /** Adds a check for each fact. */
  facts(subject: string, verdicts: readonly FactVerdict[], isReported: IsReported): void {
    for (const verdict of verdicts) {
      const { status, meaning } = factOutcome(verdict, isReported(verdict.path))
      const { path, fate, expected, found } = verdict
      const detail =
        fate === 'added' ? `added: ${excerpt(found)}` : `${meaning}: ${excerpt(expected)} became ${excerpt(found)}`
      this.checks.push({
        ...this.labelsOf(`${subject}.meaning:${path}`),
        level: isAdvisory(verdict) || !verdict.expressible ? 'should' : 'must',
        says: `The fact ${path} of the ${subject} arrives unchanged.`,
        source: `${this.scenarios}/${this.cell.scenario.id}`,
        status,
        meaning,
        ...(status === 'pass' ? {} : { details: [detail] }),
      })
    }
  }

  private labelsOf(name: string): { readonly id: string; readonly cell: string; readonly rule: string } {
    const rule = this.prefix + name
    return { id: `${this.cell.id}/${rule}`, cell: this.cell.id, rule }
  }
}

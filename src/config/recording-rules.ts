/** A rule of `--redact` or `--ignore`: a regular expression for texts, or the path of a field. */
export type Rule = { readonly pattern: RegExp } | { readonly path: readonly string[] }

/** Pattern of an expression between slashes, with flags, such as `/sk-\w+/i`. */
const EXPRESSION = /^\/(.+)\/([a-z]*)$/s

/**
 * Parses a rule: `/expression/flags`, or a path such as `metadata.user_id`. In a path, `*` matches any single step and
 * `**` any number of steps.
 *
 * @throws Error for an invalid expression or an empty path.
 */
export function parseRule(text: string): Rule {
  const [, source, flags = ''] = EXPRESSION.exec(text) ?? []
  if (source === undefined) {
    const path = text.split('.')
    if (path.some(step => step === '')) throw new Error(`${text || 'an empty rule'} is neither a path nor /expression/`)
    return { path }
  }
  try {
    return { pattern: new RegExp(source, [...new Set([...flags, 'g'])].filter(flag => flag !== 'y').join('')) }
  } catch (thrown) {
    throw new Error(`${text} is not a regular expression: ${(thrown as Error).message}`)
  }
}

/** Returns true if a text is a valid rule. */
export function isRule(text: string): boolean {
  try {
    parseRule(text)
    return true
  } catch {
    return false
  }
}

/** A value and the fields that path rules name inside it. Each step into a field takes time linear in the rules. */
export class NamedFields {
  /** No fields. */
  static readonly NONE: NamedFields = new NamedFields([])
  private readonly paths: readonly (readonly string[])[]
  /** For each path, the numbers of its steps that lead here. */
  private readonly reached: readonly ReadonlySet<number>[]

  /** @param reached where the value is. At the root by default. */
  constructor(paths: readonly (readonly string[])[], reached: readonly Iterable<number>[] = paths.map(() => [0])) {
    this.paths = paths
    this.reached = reached.map((steps, at) => withSkipped(paths[at]!, steps))
  }

  /** True if a path names this value. */
  get isNamed(): boolean {
    return this.reached.some((steps, at) => steps.has(this.paths[at]!.length))
  }

  /** True if no path names this value or one inside it. */
  get isEmpty(): boolean {
    return this.paths.length === 0
  }

  /** Returns the fields inside a field. */
  inner(name: string): NamedFields {
    if (this.isEmpty) return this
    const next = this.paths.map((path, at) => [...this.reached[at]!].flatMap(step => nextStep(path, step, name)))
    const open = next.flatMap((steps, at) => (steps.length > 0 ? [at] : []))
    if (open.length === 0) return NamedFields.NONE
    return new NamedFields(
      open.map(at => this.paths[at]!),
      open.map(at => next[at]!),
    )
  }
}

/** Adds the steps behind each `**`, which may stand for no field at all. */
function withSkipped(path: readonly string[], steps: Iterable<number>): ReadonlySet<number> {
  const all = new Set(steps)
  for (const step of all) if (path[step] === '**') all.add(step + 1)
  return all
}

function nextStep(path: readonly string[], step: number, name: string): readonly number[] {
  const expected = path[step]
  if (expected === '**') return [step]
  return expected === '*' || expected === name ? [step + 1] : []
}

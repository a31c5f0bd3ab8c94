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

/** Returns true if one of the paths matches a field. */
export const matchesPath = (paths: readonly (readonly string[])[], field: readonly string[]): boolean =>
  paths.some(path => matches(path, field))

function matches([step, ...rest]: readonly string[], field: readonly string[]): boolean {
  if (step === undefined) return field.length === 0
  if (step === '**') return matches(rest, field) || (field.length > 0 && matches([step, ...rest], field.slice(1)))
  return field.length > 0 && (step === '*' || step === field[0]) && matches(rest, field.slice(1))
}

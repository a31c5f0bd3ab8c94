import * as v from 'valibot'
import type { PathFault } from '../../config/issues.ts'
import type { AnySchema } from '../../config/schema.ts'
import type { Endpoint, Input } from './endpoint.ts'
import { type InputError, Problem } from './problem.ts'

/** The input of a request before validation. */
export interface RawInput {
  readonly params: { readonly [name: string]: string }
  readonly query: URLSearchParams
  readonly body: unknown
}

/**
 * Validates the input of a request with the endpoint's schemas.
 *
 * @throws Problem `invalid-input` listing all errors.
 */
export function checkedInput(
  { params, query, body }: Pick<Endpoint, 'params' | 'query' | 'body'>,
  raw: RawInput,
): Input {
  const errors: InputError[] = []
  const parameter = (steps: readonly string[], detail: string): InputError => ({ parameter: steps[0] ?? '', detail })
  const pointer = (steps: readonly string[], detail: string): InputError => ({ pointer: pointerOf(steps), detail })
  const input = {
    params: checked(params, raw.params, parameter, errors),
    query: checked(query, withoutRepeats(raw.query, errors), parameter, errors),
    body: body === undefined ? undefined : checked(body, raw.body, pointer, errors),
  }
  if (errors.length === 0) return input
  throw invalid(errors)
}

/** Creates the problem for errors in the input. */
function invalid(errors: readonly InputError[]): Problem {
  const [first] = errors
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  return new Problem(
    'invalid-input',
    `${first!.pointer || first!.parameter || 'body'}: ${first!.detail}${more}`,
    errors,
  )
}

/**
 * Creates the problem for faults in a part of the body.
 *
 * @param prefix path of the part.
 */
export const invalidBody = (faults: readonly PathFault[], prefix: readonly string[] = []): Problem =>
  invalid(
    faults
      .slice(0, MAX_ERRORS)
      .map(({ path, message }) => ({ pointer: pointerOf([...prefix, ...path.map(String)]), detail: message })),
  )

function checked(
  schema: AnySchema,
  value: unknown,
  error: (steps: readonly string[], detail: string) => InputError,
  errors: InputError[],
): unknown {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  for (const { path = [], message } of result.issues.slice(0, MAX_ERRORS))
    errors.push(
      error(
        path.map(({ key }) => String(key)),
        message,
      ),
    )
  return undefined
}

/** Maximum number of errors listed per part of the input. */
const MAX_ERRORS = 50

/** Formats a path as a JSON pointer (RFC 6901). */
const pointerOf = (steps: readonly string[]): string =>
  steps.map(step => `/${step.slice(0, MAX_NAME_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Maximum length of an unknown name that an error message repeats, in characters. */
const MAX_NAME_LENGTH = 100

/** Converts the query to an object. Reports parameters that are given more than once. */
function withoutRepeats(query: URLSearchParams, errors: InputError[]): { readonly [name: string]: string } {
  const values = new Map<string, string>()
  for (const [name, value] of query) {
    if (values.has(name)) errors.push({ parameter: name.slice(0, MAX_NAME_LENGTH), detail: 'is given more than once' })
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

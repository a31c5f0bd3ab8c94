import * as v from 'valibot'
import type { AnySchema } from '../../config/schema.ts'
import type { Endpoint, Input } from './endpoint.ts'
import { type InputError, Problem } from './problem.ts'

/** What a request brought, not checked yet. */
export interface RawInput {
  readonly params: { readonly [name: string]: string }
  readonly query: URLSearchParams
  readonly body: unknown
}

/**
 * The input of a request, checked by the schemas of its endpoint.
 *
 * @throws Problem `invalid-input` with everything that is wrong.
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
    query: checked(query, once(raw.query, errors), parameter, errors),
    body: body === undefined ? undefined : checked(body, raw.body, pointer, errors),
  }
  if (errors.length === 0) return input
  const [first] = errors
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  throw new Problem('invalid-input', `${first!.pointer || first!.parameter || 'body'}: ${first!.detail}${more}`, errors)
}

function checked(
  schema: AnySchema,
  value: unknown,
  error: (steps: readonly string[], detail: string) => InputError,
  errors: InputError[],
): unknown {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  for (const { path = [], message } of result.issues.slice(0, MOST))
    errors.push(
      error(
        path.map(({ key }) => String(key)),
        message,
      ),
    )
  return undefined
}

/** Errors that are listed. */
const MOST = 50

/** A JSON pointer (RFC 6901), as a client can use it. */
const pointerOf = (steps: readonly string[]): string =>
  steps.map(step => `/${step.slice(0, LONGEST).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Characters of an unknown name that are repeated. */
const LONGEST = 100

/** Each parameter, which may be given once. */
function once(query: URLSearchParams, errors: InputError[]): { readonly [name: string]: string } {
  const found = new Map<string, string>()
  for (const [name, value] of query) {
    if (found.has(name)) errors.push({ parameter: name.slice(0, LONGEST), detail: 'is given twice' })
    found.set(name, value)
  }
  return Object.fromEntries(found)
}

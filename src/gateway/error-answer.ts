import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { jsonText } from '../egress/transport/json.ts'
import { headersOf, toFailure } from './failures.ts'

/** An error as a whole answer. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

/** Whatever was thrown, as an answer of the format; `id` names the request. */
export function errorAnswer(format: Format, thrown: unknown, id: string): ErrorAnswer {
  const { status, headers, body } = WRITERS[format]!.error!(toFailure(thrown).error, id)
  return { status, headers: { ...headersOf(thrown), ...headers }, text: jsonText(body) }
}

import type { ProblemDetails } from '../../../src/operators/admin/problem.ts'
import { isRecord } from '../record.ts'

const NAMESPACE = 'urn:interlingua:problem:'

/** Error of an admin API call: a problem document (RFC 9457), or status 0 if the gateway could not be reached. */
export class ProblemError extends Error {
  readonly status: number
  /** Problem type without its namespace: `name-taken`. */
  readonly type: string
  /** Errors of single fields of the body, each with its JSON pointer. */
  readonly errors: NonNullable<ProblemDetails['errors']>
  /** All members of the problem document. */
  readonly details: Partial<ProblemDetails> & { readonly [member: string]: unknown }
  /** Time to wait before a retry, in seconds, from `Retry-After`. */
  readonly retryAfter: number | undefined

  constructor(status: number, details: ProblemError['details'], retryAfter?: number) {
    super(details.detail ?? details.title ?? `HTTP ${status}`)
    this.name = 'ProblemError'
    this.status = status
    this.type = (details.type ?? '').replace(NAMESPACE, '')
    this.errors = details.errors ?? []
    this.details = details
    this.retryAfter = retryAfter
  }

  /** Error of the field at a JSON pointer such as `/budget/day`. */
  at(pointer: string): string | undefined {
    return this.errors.find(one => one.pointer === pointer)?.detail
  }
}

/**
 * Reads the problem document of an error response. Never rejects: any other body, such as that of a proxy in between,
 * gives an empty document.
 */
export async function problemOf(answer: Response): Promise<ProblemError> {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const details: unknown = await answer.json().catch(() => undefined)
  const own = isRecord(details) && String(details['type']).startsWith(NAMESPACE) ? details : {}
  return new ProblemError(answer.status, own, Number.isFinite(seconds) ? seconds : undefined)
}

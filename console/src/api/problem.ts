import type { ProblemDetails } from '../../../src/operators/admin/problem.ts'

const NAMESPACE = 'urn:interlingua:problem:'

/** What the admin API refused (RFC 9457), or that it could not be reached (status 0). */
export class ProblemError extends Error {
  readonly status: number
  /** Without its namespace: `name-taken`. */
  readonly type: string
  /** What is wrong with which field of the body, by JSON pointer. */
  readonly errors: NonNullable<ProblemDetails['errors']>
  /** All members of the problem. */
  readonly details: Partial<ProblemDetails> & { readonly [member: string]: unknown }
  /** Seconds after which it may be tried again. */
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

  /** What is wrong with the field of that pointer, such as `/budget/day`. */
  at(pointer: string): string | undefined {
    return this.errors.find(one => one.pointer === pointer)?.detail
  }
}

/** Reads the problem of an answer that is no success. */
export async function problemOf(answer: Response): Promise<ProblemError> {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const details = await answer.json().catch(() => ({}))
  return new ProblemError(answer.status, details ?? {}, Number.isFinite(seconds) ? seconds : undefined)
}

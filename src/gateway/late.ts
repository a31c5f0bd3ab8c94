import type { WireRequest } from '../canonical/exchange.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Candidate } from '../router.ts'
import type { PreparedAttempt } from './attempt.ts'
import { type Prepared, prepare, refused } from './prepare.ts'

/** The rest of a request whose file flows through while it is sent: fields that stand behind it count like any other. */
export class Late {
  /** The request with everything that came, once it is known. */
  whole: CanonicalRequest | undefined
  private readonly coming: Promise<CanonicalRequest>

  constructor(coming: Promise<CanonicalRequest>) {
    this.coming = coming
    coming.then(
      request => (this.whole = request),
      () => {},
    )
  }

  /** What the upstream has not been told yet. Rejects with what reading the rest throws. */
  async parts(sent: Prepared, candidate: Candidate): Promise<Pick<WireRequest, 'body' | 'files'>> {
    const { wire } = prepare(await this.coming, candidate)
    return {
      body: Object.fromEntries(Object.entries(wire.body).filter(([name]) => !Object.hasOwn(sent.wire.body, name))),
      files: (wire.files ?? []).slice(sent.wire.files?.length ?? 0),
    }
  }
}

/** The attempt as it turned out to be: an answer is read and written by all that was asked. */
export function completed(attempt: PreparedAttempt, { whole }: Late): PreparedAttempt {
  if (whole === undefined) return attempt
  const prepared = prepare(whole, attempt.candidate)
  const refusal = refused(prepared.asked, prepared.losses, attempt.onLoss)
  if (refusal !== undefined) throw refusal
  return { ...attempt, request: whole, prepared }
}

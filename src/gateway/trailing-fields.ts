import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { Candidate } from '../router.ts'
import { type Prepared, prepare } from './prepare.ts'

/** The rest of a request whose file is passed on while it arrives: fields behind it count like any other. */
export class TrailingFields {
  /** The request with every field, once all of them came. */
  whole: CanonicalRequest | undefined
  /** The error of the rest: the caller's fault, whatever the upstream answered. */
  fault: unknown
  private readonly coming: Promise<CanonicalRequest>

  constructor(coming: Promise<CanonicalRequest>) {
    this.coming = coming
    coming.then(
      request => (this.whole = request),
      thrown => (this.fault = thrown),
    )
  }

  /** The fields and files that were not sent yet. Rejects with what reading the rest throws. */
  async parts(sent: Prepared, candidate: Candidate): Promise<Pick<WireRequest, 'body' | 'files'>> {
    const { wire } = prepare(await this.coming, candidate)
    const fields = Object.entries(wire.body).flatMap(([name, value]) => {
      const left = unsent(Object.hasOwn(sent.wire.body, name) ? sent.wire.body[name] : undefined, value)
      return left === undefined ? [] : [[name, left] as const]
    })
    return {
      body: Object.fromEntries(fields),
      files: (wire.files ?? []).slice(sent.wire.files?.length ?? 0),
    }
  }
}

/** The values of a field that were not sent yet; repeated fields are a list. */
function unsent(sent: Json | undefined, value: Json): Json | undefined {
  if (sent === undefined) return value
  const known = Array.isArray(sent) ? sent.length : 1
  return Array.isArray(value) && value.length > known ? value.slice(known) : undefined
}

import type { Json } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import type { Candidate } from '../router.ts'
import { type Prepared, prepare } from './prepare.ts'

/** The rest of a request whose file flows through while it is sent: fields that stand behind it count like any other. */
export class TrailingFields {
  /** The request with everything that came, once it is known. */
  whole: CanonicalRequest | undefined
  /** What was wrong with the rest: the caller's fault, whatever the upstream made of it. */
  fault: unknown
  private readonly coming: Promise<CanonicalRequest>

  constructor(coming: Promise<CanonicalRequest>) {
    this.coming = coming
    coming.then(
      request => (this.whole = request),
      thrown => (this.fault = thrown),
    )
  }

  /** What the upstream has not been told yet. Rejects with what reading the rest throws. */
  async parts(sent: Prepared, candidate: Candidate): Promise<Pick<WireRequest, 'body' | 'files'>> {
    const { wire } = prepare(await this.coming, candidate)
    const fields = Object.entries(wire.body).flatMap(([name, value]) => {
      const left = untold(Object.hasOwn(sent.wire.body, name) ? sent.wire.body[name] : undefined, value)
      return left === undefined ? [] : [[name, left] as const]
    })
    return {
      body: Object.fromEntries(fields),
      files: (wire.files ?? []).slice(sent.wire.files?.length ?? 0),
    }
  }
}

/** Of a field's values those that are not sent yet; more of one field are a list. */
function untold(sent: Json | undefined, value: Json): Json | undefined {
  if (sent === undefined) return value
  const known = Array.isArray(sent) ? sent.length : 1
  return Array.isArray(value) && value.length > known ? value.slice(known) : undefined
}

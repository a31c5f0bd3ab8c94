import { CallIds } from './call-ids.ts'
import type { CanonicalRequest } from './request.ts'

/**
 * Ids of an answer's calls: the upstream's own, or a generated one where an id is missing or used for several calls
 * (trap 6).
 */
export class AnswerIds {
  /** Created at the first call: most answers have none. */
  private used: Set<string> | undefined
  private readonly request: CanonicalRequest
  private generator: CallIds | undefined

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  call(wireId: string | undefined, name: string): string {
    const used = (this.used ??= new Set())
    const id = wireId !== undefined && wireId !== '' && !used.has(wireId) ? wireId : this.generate(name, used)
    used.add(id)
    return id
  }

  private generate(name: string, used: ReadonlySet<string>): string {
    this.generator ??= CallIds.after(this.request)
    for (;;) {
      const id = this.generator.call(undefined, name)
      if (!used.has(id)) return id
    }
  }
}

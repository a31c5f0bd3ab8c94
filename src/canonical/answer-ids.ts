import { CallIds } from './call-ids.ts'
import type { CanonicalRequest } from './request.ts'

/** The ids of an answer's calls: the upstream's own, and one of ours where it gives none or one for several (trap 6). */
export class AnswerIds {
  /** Made for the first call: most answers have none. */
  private used: Set<string> | undefined
  private readonly request: CanonicalRequest
  private minted: CallIds | undefined

  constructor(request: CanonicalRequest) {
    this.request = request
  }

  call(said: string | undefined, name: string): string {
    const used = (this.used ??= new Set())
    const id = said !== undefined && said !== '' && !used.has(said) ? said : this.mint(name, used)
    used.add(id)
    return id
  }

  private mint(name: string, used: ReadonlySet<string>): string {
    this.minted ??= CallIds.after(this.request)
    for (;;) {
      const id = this.minted.call(undefined, name)
      if (!used.has(id)) return id
    }
  }
}

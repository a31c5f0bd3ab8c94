import { CallIds } from './call-ids.ts'
import type { CanonicalRequest } from './request.ts'

/** The ids of an answer's calls: the upstream's own, and one of ours where it gives none or one for several (trap 6). */
export class AnswerIds {
  private readonly used = new Set<string>()
  private readonly asked: CanonicalRequest
  private minted: CallIds | undefined

  constructor(asked: CanonicalRequest) {
    this.asked = asked
  }

  call(said: string | undefined, name: string): string {
    const id = said !== undefined && said !== '' && !this.used.has(said) ? said : this.mint(name)
    this.used.add(id)
    return id
  }

  private mint(name: string): string {
    this.minted ??= CallIds.after(this.asked)
    for (;;) {
      const id = this.minted.call(undefined, name)
      if (!this.used.has(id)) return id
    }
  }
}

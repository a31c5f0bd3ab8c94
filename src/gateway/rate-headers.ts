import type { Allowance } from '../access/index.ts'
import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { addRateLimits } from '../egress/transport/rate-limit.ts'
import type { HeaderSource } from './call.ts'

/** What is left of a key's limits, as headers of the caller's format. */
export class RateHeaders implements HeaderSource {
  private readonly allowance: Allowance
  private readonly format: Format

  constructor(allowance: Allowance, format: Format) {
    this.allowance = allowance
    this.format = format
  }

  addTo(head: { [name: string]: string }): void {
    const add = WRITERS[this.format]!.addRateLimits ?? addRateLimits
    add(head, this.allowance.left, Date.now())
  }
}

import type { Allowance } from '../access/index.ts'
import type { Format } from '../canonical/node.ts'
import { WRITERS } from '../egress/index.ts'
import { rateLimitHeaders } from '../egress/transport/rate-limit.ts'
import type { HeaderSource } from './call.ts'

/** What a key may still ask, in the headers of the format it asks in. */
export class RateHeaders implements HeaderSource {
  private readonly allowance: Allowance
  private readonly format: Format

  constructor(allowance: Allowance, format: Format) {
    this.allowance = allowance
    this.format = format
  }

  read(): { readonly [name: string]: string } {
    const write = WRITERS[this.format]!.rateLimitHeaders ?? rateLimitHeaders
    return write(this.allowance.left, Date.now())
  }
}

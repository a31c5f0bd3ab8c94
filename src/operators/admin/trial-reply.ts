import type { Headers } from '../../gateway/call.ts'
import { ForwardedReply } from '../../gateway/forwarded-reply.ts'

/** Header with the endpoint's status. The answer itself always has HTTP status 200. */
const STATUS_HEADER = 'x-interlingua-status'

/**
 * Passes an endpoint's answer on to the administrator who sent a trial request. Headers keep browsers from executing
 * the content.
 */
export class TrialReply extends ForwardedReply {
  override whole(status: number, headers: Headers, text: string): void {
    super.whole(200, withSafetyHeaders(status, headers), text)
  }

  override begin(headers: Headers, status = 200): void {
    super.begin(withSafetyHeaders(status, headers))
  }
}

const withSafetyHeaders = (status: number, headers: Headers): Headers => ({
  ...headers,
  ...{ [STATUS_HEADER]: String(status), 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  'content-security-policy': "default-src 'none'; sandbox",
})

import { type Loose, Refusal, type Reply, type Seen, type Step, VideoUpstream } from './upstream.ts'

/** Credentials that must never be sent here. */
const CREDENTIALS = ['authorization', 'x-goog-api-key', 'x-api-key', 'cookie']

/** Public storage of finished videos. Any credential it receives counts as a leak. */
export class Storage extends VideoUpstream {
  /** Number of requests with a credential. */
  leaks = 0
  /** Whether every URL is expired and answers 403, as signed URLs do. */
  expired = false
  mediaType = 'video/mp4'

  protected newId(): string {
    return 'none'
  }

  protected stepOf(method: string, { pathname }: URL): Step {
    return (method === 'GET' || method === 'HEAD') && pathname.startsWith('/stored/') ? 'content' : 'unknown'
  }

  protected authorize({ headers, url }: Seen): void {
    if (CREDENTIALS.some(name => headers[name] !== undefined) || url.searchParams.has('key')) {
      this.leaks++
      throw new Refusal(400, 'InvalidArgument', 'Only one auth mechanism allowed.')
    }
  }

  protected refusal({ code, message }: Refusal): Loose {
    return { Code: code, Message: message }
  }

  protected serve({ step, url }: Seen): Reply {
    if (step === 'unknown') throw new Refusal(404, 'NoSuchKey', 'The specified key does not exist.')
    if (this.expired) throw new Refusal(403, 'AccessDenied', 'Request has expired')
    return { clip: { seed: url.pathname.split('/')[2]!, size: this.size, mediaType: this.mediaType } }
  }
}

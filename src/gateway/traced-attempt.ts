import type { TracedAttempt } from '../metrics/traces.ts'
import type { Candidate } from '../router.ts'

/** What a trace tells of an attempt at a candidate. */
export const tracedAttempt = ({ channel, format, upstreamModel }: Candidate): TracedAttempt => ({
  ...{ channel: channel.name, provider: channel.provider, format: format.format, model: upstreamModel },
})

import { upstreamFailed } from '../../canonical/error.ts'

/** The last event of a streamed answer of any format that no end came for. */
export const ENDED_EARLY = upstreamFailed('The answer ended early.')

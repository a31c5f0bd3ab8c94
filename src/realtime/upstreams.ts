import { GatewayError } from '../canonical/error.ts'
import { LiveProtocol } from './formats/live/protocol.ts'
import { RealtimeProtocol } from './formats/realtime/protocol.ts'
import type { Protocol, ProtocolOptions } from './protocol.ts'
import type { RunRequest, Upstream, UpstreamOptions } from './upstream.ts'

/** The formats upstreams speak in realtime sessions, a row each. */
export const PROTOCOLS: { readonly [format: string]: new (options: ProtocolOptions) => Protocol } = {
  realtime: RealtimeProtocol,
  live: LiveProtocol,
}

export interface CascadeOptions extends UpstreamOptions {
  readonly run: RunRequest
  /** The public model ids of the three requests of a turn. */
  readonly models: { readonly transcription: string; readonly conversation: string; readonly speech: string }
  readonly voice?: string
}

const cannot = (message: string): Promise<never> =>
  Promise.reject(new GatewayError({ kind: 'cannot-express', message }))

/** A session made of a transcription, a conversation and a speech in turn. */
export const openCascade = (_: CascadeOptions): Promise<Upstream> => cannot('No cascade is built in.')

export { openConverter } from './audio/index.ts'

import { LiveProtocol } from './formats/live/protocol.ts'
import { RealtimeProtocol } from './formats/realtime/protocol.ts'
import type { Protocol, ProtocolOptions } from './protocol.ts'

/** The protocol of each format that upstreams speak in voice sessions. */
export const PROTOCOLS: { readonly [format: string]: new (options: ProtocolOptions) => Protocol } = {
  realtime: RealtimeProtocol,
  live: LiveProtocol,
}

export { openConverter } from './audio/index.ts'
export { type CascadeOptions, openCascade } from './cascade/cascade.ts'

import { LiveProtocol } from './formats/live/protocol.ts'
import { RealtimeProtocol } from './formats/realtime/protocol.ts'
import type { Protocol, ProtocolOptions } from './protocol.ts'

/** Protocols by the upstream's voice session format. */
export const PROTOCOLS: { readonly [format: string]: new (options: ProtocolOptions) => Protocol } = {
  realtime: RealtimeProtocol,
  live: LiveProtocol,
}

export { openConverter } from './audio/index.ts'
export { type CascadeOptions, openCascade } from './cascade/cascade.ts'

import { expect } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { WRITERS } from '../../src/egress/index.ts'
import { READERS } from '../../src/ingress/index.ts'

/**
 * Returns the events of a stream as the gateway passes them to a caller of the upstream's own format. Events before
 * `until` are unchanged if the format's writer relays events. The others are written anew. A stream that the reader
 * must repair fails the test.
 */
export function relayed(
  format: string,
  request: CanonicalRequest,
  wire: readonly WireEvent[],
  until = wire.length,
): WireEvent[] {
  const reader = READERS[format]!.events!(request)
  const own = WRITERS[format]!.nativeEvents?.(request)
  const writer = own ?? WRITERS[format]!.events!(request)
  const out = wire.flatMap((event, at) => {
    const read = reader.push(event)
    return at < until && own !== undefined ? own.relay(event, read) : read.flatMap(one => writer.push(one))
  })
  expect(reader.irregular ?? false).toBe(false)
  return [...out, ...reader.end().flatMap(one => writer.push(one)), ...writer.end()]
}

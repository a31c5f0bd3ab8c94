import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { defined } from '../canonical/node.ts'
import type { FaultAt } from './faults.ts'
import type { UpstreamTls } from './types.ts'

/** Files of a channel's TLS settings, by field. */
export interface WrittenTls {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/**
 * Reads the certificates of a channel: those of its own authority, and the gateway's client certificate with its key.
 * Reports files that cannot be read or used.
 */
export function upstreamTlsOf({ ca, cert, key }: WrittenTls, fault: FaultAt): UpstreamTls | undefined {
  if ((cert === undefined) !== (key === undefined)) fault(['tls'], 'needs both `cert` and `key`, or neither')
  const read = (field: keyof WrittenTls, file: string | undefined): string | undefined => {
    if (file === undefined) return undefined
    try {
      return readFileSync(file, 'utf8')
    } catch (thrown) {
      fault(['tls', field], `cannot be read: ${(thrown as NodeJS.ErrnoException).code}`)
      return undefined
    }
  }
  const tls: UpstreamTls = defined({ ca: read('ca', ca), cert: read('cert', cert), key: read('key', key) })
  try {
    createSecureContext(tls)
  } catch {
    fault(['tls'], 'holds no valid certificates, or a key of another certificate')
  }
  return tls
}

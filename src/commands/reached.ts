import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/index.ts'

/** How a request to paste reaches a gateway. */
export interface Reached {
  readonly address: string
  /** The file of a certificate that no authority signed: clients must be given it. */
  readonly certificate?: string
}

/**
 * Where to send requests: with TLS the first public URL, which a certificate is usually for, else the address it listens
 * at, under a name that a self-signed certificate has.
 *
 * @param address where the gateway listens.
 */
export function reached(address: string, { server: { tls, publicUrls } }: Config): Reached {
  if (tls === undefined) return { address }
  const target = publicUrls[0] ?? address
  const own = selfSigned(tls.cert)
  return own === undefined ? { address: target } : { address: named(target, own), certificate: resolve(tls.cert) }
}

/** The certificate of a file, where it signed itself. */
function selfSigned(path: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(readFileSync(path))
    return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey) ? certificate : undefined
  } catch {
    // A file that cannot be used is a fault of the config, which the start reports.
    return undefined
  }
}

/** A loopback address by the name `localhost`, where the certificate has that name alone. */
function named(address: string, certificate: X509Certificate): string {
  const url = new URL(address)
  if (
    !/^(?:127\.|\[::1\]$)/.test(url.hostname) ||
    certificate.checkIP(url.hostname.replace(/[[\]]/g, '')) !== undefined
  )
    return address
  if (certificate.checkHost('localhost') === undefined) return address
  url.hostname = 'localhost'
  return url.origin
}

/** `curl` with its flags, and with the certificate where it must be given. */
export const curlOf = ({ certificate }: Reached, flags = '-s'): string =>
  `curl ${flags}${certificate === undefined ? '' : ` --cacert ${quoted(certificate)}`}`

/** A text as one word of a shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

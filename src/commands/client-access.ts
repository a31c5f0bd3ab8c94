import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../config/index.ts'

/** The address and certificate with which clients reach a gateway. */
export interface ClientAccess {
  readonly address: string
  /** Path of a self-signed certificate, which clients must be told to trust. */
  readonly certificate?: string
}

/**
 * Determines how clients reach the gateway. With TLS, prefers the first public URL, for which certificates are
 * usually issued, over the listening address. If a self-signed certificate covers only `localhost`, uses that name.
 *
 * @param address the address on which the gateway listens.
 */
export function clientAccess(address: string, { server: { tls, publicUrls } }: Config): ClientAccess {
  if (tls === undefined) return { address }
  const target = publicUrls[0] ?? address
  const own = selfSigned(tls.cert)
  return own === undefined
    ? { address: target }
    : { address: withCertifiedName(target, own), certificate: resolve(tls.cert) }
}

/** Reads a certificate file. Returns undefined if the certificate is not self-signed. */
function selfSigned(path: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(readFileSync(path))
    return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey) ? certificate : undefined
  } catch {
    // An unusable file is a config fault, which the server reports when it starts.
    return undefined
  }
}

/** Replaces a loopback IP address with `localhost` if the certificate covers that name but not the address. */
function withCertifiedName(address: string, certificate: X509Certificate): string {
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

/** Returns a `curl` command with these flags, and with `--cacert` if clients need the certificate. */
export const curlOf = ({ certificate }: ClientAccess, flags = '-s'): string =>
  `curl ${flags}${certificate === undefined ? '' : ` --cacert ${quoted(certificate)}`}`

/** Quotes a string as one shell word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

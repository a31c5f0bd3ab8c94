import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'

/** Whether certificates can be created on this machine. */
export const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

export interface TlsFront {
  /** Base URL, such as `https://localhost:49152`. */
  readonly url: string
  close(): Promise<void>
}

/** Serves a gateway over TLS with a self-signed certificate, because OpenAI's realtime clients accept nothing else. */
export async function openTls(address: string): Promise<TlsFront> {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-tls-'))
  const at = (name: string): string => join(folder, name)
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  execFileSync('openssl', ['req', ...made, ...subject, '-keyout', at('key'), '-out', at('cert')], { stdio: 'ignore' })
  const { hostname, port } = new URL(address)
  const server = createServer({ key: readFileSync(at('key')), cert: readFileSync(at('cert')) }, inner => {
    const outer = connect(Number(port), hostname)
    for (const socket of [inner, outer]) socket.on('error', () => void [inner.destroy(), outer.destroy()])
    inner.pipe(outer).pipe(inner)
  })
  rmSync(folder, { recursive: true })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

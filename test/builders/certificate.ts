import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Certificates are made with OpenSSL. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0
if (!hasOpenssl) process.stderr.write('SKIPPED: tests of TLS need openssl on the path\n')

const NEW = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2'

/** Files of certificates for the loopback, in a temporary folder. */
export class Certificates {
  readonly folder = mkdtempSync(join(tmpdir(), 'interlingua-tls-'))

  /** Creates `NAME.crt`, signed by itself, with these alternative names, and `NAME.key`. */
  make(name: string, names = 'IP:127.0.0.1'): { readonly cert: string; readonly key: string; readonly pem: string } {
    const [cert, key] = [join(this.folder, `${name}.crt`), join(this.folder, `${name}.key`)]
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`]
    execFileSync('openssl', [...NEW.split(' '), ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
    return { cert, key, pem: readFileSync(cert, 'utf8') }
  }

  close(): void {
    rmSync(this.folder, { recursive: true })
  }
}

import { X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import { createSecureContext } from 'node:tls'
import { readCredentialFile } from '../config/credential-file.ts'
import { ConfigError } from '../config/index.ts'
import { watchPath } from '../config/watch.ts'
import type { Log } from '../gateway/index.ts'

/** Paths of the certificate and the key, in PEM format. The certificate includes its chain without the root. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

interface CertificatePair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Delay before changed files are read, in milliseconds. A renewal replaces the two files one after the other. */
const SETTLE_TIME = 1000

/**
 * A server's certificate and key. Reloads them when their files change. If the new pair is unusable, the old one stays
 * in use.
 */
export class Certificate {
  pair: CertificatePair
  private files: TlsFiles
  private readonly log: Log
  private server: Server | undefined
  private watches: readonly (() => void)[] = []
  private settleTimer: NodeJS.Timeout | undefined

  /** @throws ConfigError if the files cannot be used. */
  constructor(files: TlsFiles, log: Log) {
    this.files = files
    this.log = log
    this.watch()
    try {
      this.pair = readPair(files)
    } catch (thrown) {
      this.close()
      throw thrown
    }
  }

  /** Expiry time of the certificate, in Unix seconds. */
  get expires(): number {
    return new X509Certificate(this.pair.cert).validToDate.getTime() / 1000
  }

  /** Sets the server that receives renewed certificates. */
  attach(server: Server): void {
    this.server = server
  }

  /** Switches to other files and reads them immediately. */
  reload(files: TlsFiles): void {
    if (files.cert !== this.files.cert || files.key !== this.files.key) {
      this.close()
      this.files = files
      this.watch()
    }
    this.renew()
  }

  close(): void {
    clearTimeout(this.settleTimer)
    for (const end of this.watches) end()
  }

  private watch(): void {
    this.watches = [this.files.cert, this.files.key].map(path => watchPath(path, () => this.scheduleRenewal()))
  }

  private scheduleRenewal(): void {
    clearTimeout(this.settleTimer)
    this.settleTimer = setTimeout(() => this.renew(), SETTLE_TIME)
    this.settleTimer.unref()
  }

  private renew(): void {
    try {
      const pair = readPair(this.files)
      if (pair.cert.equals(this.pair.cert) && pair.key.equals(this.pair.key)) return
      this.server?.setSecureContext(pair)
      this.pair = pair
      this.log.info({ cert: this.files.cert }, 'certificate renewed')
    } catch (thrown) {
      this.log.error(
        { fault: (thrown as Error).message },
        'the new certificate cannot be used; the previous one stays in use',
      )
    }
  }
}

/** @throws ConfigError if a file is unreadable or not PEM, or the key does not match the certificate. */
export function readPair(files: TlsFiles): CertificatePair {
  const pair = { cert: read('cert', files.cert), key: read('key', files.key) }
  check('cert', `${files.cert} is not a PEM certificate`, { cert: pair.cert })
  check('key', `${files.key} is not a PEM key`, { key: pair.key })
  check('key', `${files.key} does not match ${files.cert}`, pair)
  return pair
}

function read(field: keyof TlsFiles, path: string): Buffer {
  let content: string
  try {
    content = readCredentialFile(path)
  } catch (thrown) {
    throw fault(field, `${path} ${(thrown as Error).message}`)
  }
  if (content === '') throw fault(field, `${path} is empty`)
  return Buffer.from(content)
}

function check(field: keyof TlsFiles, problem: string, pair: Partial<CertificatePair>): void {
  try {
    createSecureContext(pair)
  } catch (thrown) {
    const { reason, message } = thrown as Error & { readonly reason?: string }
    throw fault(field, `${problem} (${reason ?? message})`)
  }
}

const fault = (field: keyof TlsFiles, message: string): ConfigError =>
  new ConfigError([{ path: `server.tls.${field}`, message }])

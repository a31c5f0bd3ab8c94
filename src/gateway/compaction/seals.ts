import { SEAL } from '../../canonical/sealed.ts'
import { storeFailure } from '../../store/fault.ts'
import { decrypted, encrypted } from '../encryption.ts'
import type { GatewaySecret } from '../gateway-secret.ts'

/**
 * Seals and opens texts for one caller; those of another caller do not open. The key must have been loaded: until then,
 * and where it cannot be had, both throw OwnFailure.
 */
export interface Seal {
  /** Loads the key. Rejects with OwnFailure where it cannot be had. */
  load(): Promise<void>
  seal(text: string): string
  /** The text; undefined for another caller's, for one of another gateway, and for one that was changed. */
  open(sealed: string): string | undefined
}

/** Texts that callers keep for the gateway, encrypted (AES-256-GCM) with a key that all instances of one store have. */
export class Seals {
  private readonly secret: GatewaySecret

  constructor(secret: GatewaySecret) {
    this.secret = secret
  }

  /** @param owner stable for the caller's key, and no other's. */
  of(owner: string): Seal {
    const about = (): Buffer => Buffer.from(`interlingua ${SEAL}\n${owner}`)
    return {
      load: () => this.secret.load().then(nothing, unsealed),
      seal: text => SEAL + encrypted(this.key(), text, about()).toString('base64url'),
      open: sealed => decrypted(this.key(), Buffer.from(sealed.slice(SEAL.length), 'base64url'), about()),
    }
  }

  private key(): Buffer {
    return this.secret.loaded ?? unsealed()
  }
}

const nothing = (): void => {}

const unsealed = (): never => {
  throw UNSEALED
}

/** Without a key that is kept, what is sealed today could not be opened tomorrow. */
const UNSEALED = storeFailure('The key that seals conversations cannot be had just now.')

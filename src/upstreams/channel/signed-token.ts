import { SignJWT } from 'jose'
import { GatewayError } from '../../canonical/error.ts'
import type { ChannelConfig } from '../../config/index.ts'

/** Lifetime of a token, in seconds. The vendors allow at most half an hour. */
const LIFETIME = 1800
/** How far the start of the validity is put back, in seconds, because clocks differ. */
const BACKDATED = 5
/** How long before its end a token is replaced, in seconds. */
const RENEW_BEFORE = 300

/** A key of two parts: its name, and the secret that signs tokens. */
export interface KeyPair {
  readonly access: string
  readonly secret: string
}

/** Splits a key `access:secret`. Undefined for a key that is sent as it is. */
export function keyPairOf(key: string | undefined): KeyPair | undefined {
  const colon = key?.indexOf(':') ?? -1
  return colon < 0 ? undefined : { access: key!.slice(0, colon), secret: key!.slice(colon + 1) }
}

/**
 * Bearer token of upstreams with a key of two parts (Kling's API, "API Authentication"): HS256, `iss` is the access
 * key, `exp` in half an hour, `nbf` a moment ago. All requests share one token until it is about to expire.
 */
export class SignedToken {
  private readonly pair: KeyPair
  private readonly now: () => number
  private token: { readonly text: string; readonly from: number; readonly until: number } | undefined
  private pending: Promise<void> | undefined

  /** @param now returns Unix milliseconds. */
  constructor(pair: KeyPair, now: () => number = Date.now) {
    this.pair = pair
    this.now = now
  }

  /** Current token, which may be about to expire. Undefined before the first one. */
  get text(): string | undefined {
    return this.token?.text
  }

  /**
   * Resolves when there is a valid token. Undefined if there is one already.
   *
   * @throws GatewayError `upstream-account` if the secret cannot sign.
   */
  ready(): Promise<void> | undefined {
    if (this.isValid()) return undefined
    this.pending ??= this.make().finally(() => {
      this.pending = undefined
    })
    return this.pending
  }

  /** Whether the token is valid now. A clock that was set back may be before the token's start. */
  private isValid(): boolean {
    const { from, until } = this.token ?? { from: 0, until: 0 }
    const now = this.now() / 1000
    return from <= now && now < until
  }

  private async make(): Promise<void> {
    const now = Math.floor(this.now() / 1000)
    const { access, secret } = this.pair
    const claims = { iss: access, exp: now + LIFETIME, nbf: now - BACKDATED }
    try {
      const unsigned = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      const text = await unsigned.sign(new TextEncoder().encode(secret))
      this.token = { text, from: claims.nbf, until: now + LIFETIME - RENEW_BEFORE }
    } catch {
      // The cause is left out, because it may contain the secret.
      throw new GatewayError({ kind: 'upstream-account', message: "The upstream's key cannot sign tokens." })
    }
  }
}

/**
 * Returns the signed token of a channel, if one of its formats uses such tokens. Undefined if the key is sent
 * unchanged.
 */
export function signedTokenOf({ formats, key }: ChannelConfig): SignedToken | undefined {
  const pair = formats.some(({ auth }) => auth === 'jwt') ? keyPairOf(key) : undefined
  return pair === undefined ? undefined : new SignedToken(pair)
}

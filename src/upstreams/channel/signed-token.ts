import { SignJWT } from 'jose'
import { GatewayError } from '../../canonical/error.ts'
import type { ChannelConfig } from '../../config/index.ts'

/** Seconds a token is valid for, at most half an hour at the vendors that have this. */
const LIFETIME = 1800
/** Seconds it is valid from before it was made: clocks differ. */
const EARLIER = 5
/** Seconds before its end in which a token is not used any more. */
const SPARE = 300

/** A key of two parts: its name, and what tokens are signed with. */
export interface KeyPair {
  readonly access: string
  readonly secret: string
}

/** The parts of a key `access:secret`; undefined for one that is a token already. */
export function keyPairOf(key: string | undefined): KeyPair | undefined {
  const colon = key?.indexOf(':') ?? -1
  return colon < 0 ? undefined : { access: key!.slice(0, colon), secret: key!.slice(colon + 1) }
}

/**
 * The bearer token of upstreams with a key of two parts (Kling's API, "API Authentication"): HS256, `iss` the access key,
 * `exp` in half an hour, `nbf` a moment ago. One is made for all requests until it is about to end.
 */
export class SignedToken {
  private readonly pair: KeyPair
  private readonly now: () => number
  private token: { readonly text: string; readonly from: number; readonly until: number } | undefined
  private making: Promise<void> | undefined

  /** @param now Unix milliseconds. */
  constructor(pair: KeyPair, now: () => number = Date.now) {
    this.pair = pair
    this.now = now
  }

  /** Undefined until one was made; it may be about to end. */
  get text(): string | undefined {
    return this.token?.text
  }

  /**
   * Settles when there is a token that lasts; undefined where it is there already.
   *
   * @throws GatewayError `upstream-account` where the secret signs nothing.
   */
  ready(): Promise<void> | undefined {
    if (this.lasts()) return undefined
    this.making ??= this.make().finally(() => {
      this.making = undefined
    })
    return this.making
  }

  /** Whether there is a token that is valid now: a clock that was set back may lie before its beginning. */
  private lasts(): boolean {
    const { from, until } = this.token ?? { from: 0, until: 0 }
    const now = this.now() / 1000
    return from <= now && now < until
  }

  private async make(): Promise<void> {
    const now = Math.floor(this.now() / 1000)
    const { access, secret } = this.pair
    const claims = { iss: access, exp: now + LIFETIME, nbf: now - EARLIER }
    try {
      const unsigned = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      const text = await unsigned.sign(new TextEncoder().encode(secret))
      this.token = { text, from: claims.nbf, until: now + LIFETIME - SPARE }
    } catch {
      // The cause is left out: it may hold the secret.
      throw new GatewayError({ kind: 'upstream-account', message: 'The key of the upstream signs no tokens.' })
    }
  }
}

/** The tokens of a channel one of whose formats has them; undefined where its key goes out as it is. */
export function signedTokenOf({ formats, key }: ChannelConfig): SignedToken | undefined {
  const pair = formats.some(({ auth }) => auth === 'jwt') ? keyPairOf(key) : undefined
  return pair === undefined ? undefined : new SignedToken(pair)
}

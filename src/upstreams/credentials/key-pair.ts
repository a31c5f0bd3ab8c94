import { accountError, type TokenSource } from './access-token.ts'
import { signedWithSecret } from './signed-jwt.ts'

/** Lifetime of a token, in seconds. The vendors allow at most half an hour. */
const LIFETIME = 1800
/** How far the start of the validity is put back, in seconds, because clocks differ. */
const BACKDATED = 5

/** A key of two parts: its name, and the secret that signs tokens. */
export interface KeyPair {
  readonly access: string
  readonly secret: string
}

/** Splits a key `access:secret`; undefined for a key that is sent as it is. */
export function keyPairOf(key: string | undefined): KeyPair | undefined {
  const colon = key?.indexOf(':') ?? -1
  return colon < 0 ? undefined : { access: key!.slice(0, colon), secret: key!.slice(colon + 1) }
}

/**
 * The bearer token of upstreams with a key of two parts (Kling's API, "API Authentication"): HS256, `iss` is the access
 * key, `exp` in half an hour, `nbf` a moment ago.
 *
 * @param now returns Unix milliseconds.
 */
export const keyPairTokens =
  ({ access, secret }: KeyPair, now: () => number = Date.now): TokenSource =>
  async () => {
    const at = Math.floor(now() / 1000)
    const claims = { iss: access, exp: at + LIFETIME, nbf: at - BACKDATED }
    try {
      return { text: await signedWithSecret(claims, secret), from: claims.nbf, until: claims.exp }
    } catch {
      // The cause is left out, because it may contain the secret.
      throw accountError("The upstream's key cannot sign tokens.")
    }
  }

import { accountError, type TokenSource } from './access-token.ts'
import { signedWithSecret } from './signed-jwt.ts'

/** Lifetime of a token, in seconds. Vendors allow at most half an hour. */
const TOKEN_LIFETIME = 1800
/** Time by which the start of the validity is backdated, in seconds, because clocks differ. */
const BACKDATE_SECONDS = 5

/** A two-part key: its name, and the secret that signs tokens. */
export interface KeyPair {
  readonly access: string
  readonly secret: string
}

/** Splits a key `access:secret`. Returns undefined for a key that is sent unchanged. */
export function keyPairOf(key: string | undefined): KeyPair | undefined {
  const colon = key?.indexOf(':') ?? -1
  return colon < 0 ? undefined : { access: key!.slice(0, colon), secret: key!.slice(colon + 1) }
}

/**
 * Returns a source of bearer tokens for upstreams with a two-part key (Kling's API, "API Authentication"). Tokens are
 * signed with HS256; `iss` is the access key, `exp` is in half an hour, and `nbf` is a few seconds ago.
 *
 * @param now returns Unix milliseconds.
 */
export const keyPairTokens =
  ({ access, secret }: KeyPair, now: () => number = Date.now): TokenSource =>
  async () => {
    const at = Math.floor(now() / 1000)
    const claims = { iss: access, exp: at + TOKEN_LIFETIME, nbf: at - BACKDATE_SECONDS }
    try {
      return { text: await signedWithSecret(claims, secret), from: claims.nbf, until: claims.exp }
    } catch {
      // The cause is omitted, because it may contain the secret.
      throw accountError("The upstream's key cannot sign tokens.")
    }
  }

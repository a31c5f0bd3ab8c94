import { type CryptoKey, importPKCS8, SignJWT } from 'jose'

/** Claims of a token. */
export interface Claims {
  readonly [name: string]: string | number
}

/** Signs claims with a shared secret (HS256). */
export const signedWithSecret = (claims: Claims, secret: string): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(new TextEncoder().encode(secret))

/**
 * Signs claims with a private key in PKCS #8 (RS256).
 *
 * @param kid the key's id at the issuer.
 */
export async function signedWithKey(claims: Claims, privateKey: string, kid: string | undefined): Promise<string> {
  const key: CryptoKey = await importPKCS8(privateKey, 'RS256')
  const header = { alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) }
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}

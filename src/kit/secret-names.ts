/** Matches the names of headers, parameters and fields that contain a credential or an account. */
export const SECRET_NAME = /auth|key|token|secret|password|credential|cookie|org|project|account|signature/i
/** Minimum length of credentials that are removed from bodies, in characters. A shorter one may be an ordinary word. */
const MIN_CREDENTIAL_LENGTH = 8

/** Returns true if a value is a credential rather than a scheme or a placeholder. */
export const isCredential = (value: string): boolean =>
  value.length >= MIN_CREDENTIAL_LENGTH && !/^(?:[A-Za-z-]{1,20}|\[\w+\])$/.test(value)

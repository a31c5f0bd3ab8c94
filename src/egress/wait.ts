import type { CanonicalError } from '../canonical/error.ts'

/** The header that tells a caller when to come back, in whole seconds; none where nobody knows (trap 78). */
export const waitHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

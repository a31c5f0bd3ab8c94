import * as v from 'valibot'
import { called, optional, required } from '../setting.ts'
import { fields, secret, text } from '../values.ts'

/** The database's address. */
export const store = called(
  'address of a database',
  v.pipe(
    text,
    v.check(
      value => /^(?:postgres(?:ql)?:\/\/.|sqlite:.)/.test(value),
      'expected postgres://user@host/database or sqlite:FILE',
    ),
    v.check(
      value => value.startsWith('sqlite:') || URL.canParse(value),
      'not a valid address; special characters of a password are percent-encoded (# is %23, / is %2F)',
    ),
  ),
)

/** The address of Redis. */
export const redis = called(
  'address of a Redis',
  v.pipe(
    text,
    v.check(value => /^rediss?:\/\/./.test(value), 'expected redis://host:port'),
  ),
)

/** A secret that encrypts stored credentials. Short ones could be guessed. */
const encryptionSecret = called('secret', v.pipe(secret, v.minLength(32, 'has fewer than 32 characters')))

/** The encryption of stored credentials. */
export const encryption = fields({
  key: required(encryptionSecret, 'Secret of at least 32 characters.'),
  previous: optional(
    v.array(encryptionSecret, 'expected a list of secrets'),
    'Secrets before, which still decrypt, until `interlingua store encrypt-again` has used the new one everywhere.',
  ),
})

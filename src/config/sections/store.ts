import * as v from 'valibot'
import { optional, required, withValueKind } from '../setting.ts'
import { fields, secret, text } from '../values.ts'

/** The database's address. */
export const store = withValueKind(
  'address of a database',
  v.pipe(
    text,
    v.trim(),
    v.check(
      value => /^(?:postgres(?:ql)?:\/\/.|sqlite:.)/.test(value),
      'expected postgres://user@host/database or sqlite:FILE',
    ),
    v.check(
      value => value.startsWith('sqlite:') || URL.canParse(value),
      'is not a valid address; percent-encode special characters in the password (# is %23, / is %2F)',
    ),
  ),
)

/** The address of Redis. */
export const redis = withValueKind(
  'address of a Redis server',
  v.pipe(
    text,
    v.trim(),
    v.check(value => /^rediss?:\/\/./.test(value), 'expected redis://host:port'),
    v.check(
      value => !/^rediss?:\/\/./.test(value) || URL.canParse(value),
      'is not a valid address; percent-encode special characters in the password (# is %23, / is %2F)',
    ),
  ),
)

/** A secret that encrypts stored credentials. A shorter one could be guessed. */
const encryptionSecret = withValueKind(
  'secret of 32 characters or more',
  v.pipe(
    secret,
    // JSON Schema describes texts before their variables are replaced.
    v.check(value => value.length >= 32, 'has fewer than 32 characters'),
  ),
)

/** Secrets that encrypt the credentials of stored channels. */
export const encryption = fields({
  key: required(encryptionSecret, 'Secret that encrypts the credentials of stored channels.'),
  previous: optional(
    v.array(encryptionSecret, 'expected a list of secrets'),
    'Earlier secrets, used only to decrypt. Required until `interlingua store encrypt-again` has run.',
  ),
})

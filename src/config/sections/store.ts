import * as v from 'valibot'
import { called } from '../setting.ts'
import { text } from '../values.ts'

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

import * as v from 'valibot'
import { isUserName, LONGEST_NAME, userName } from '../console/user-name.ts'
import { describedAs, oneOf, text } from './schema.ts'

const LONGEST_PASSWORD = 500
const SHORTEST_PASSWORD = 10

/** Any text that may be a password, or a name that somebody tries: what it is made of is not looked at. */
export const password = describedAs(
  v.pipe(
    v.string('expected a text'),
    v.minLength(1, 'is empty'),
    v.maxLength(LONGEST_PASSWORD, `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: 1, maxLength: LONGEST_PASSWORD },
)

/** A password that is chosen now: long, of any characters (NIST SP 800-63B, section 5.1.1.2). */
export const newPassword = describedAs(
  v.pipe(
    v.string('expected a text'),
    v.check(value => [...value].length >= SHORTEST_PASSWORD, `has fewer than ${SHORTEST_PASSWORD} characters`),
    v.maxLength(LONGEST_PASSWORD, `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD },
)

/** The name of a new user. */
export const newUserName = v.pipe(
  text(LONGEST_NAME),
  v.transform(userName),
  v.check(isUserName, 'begins with a letter or a digit, and has letters, digits, spaces and . _ @ + - ( )'),
)

export const role = oneOf(['admin', 'viewer'])

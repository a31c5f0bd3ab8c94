import * as v from 'valibot'
import { describedAs, isLonger, oneOf, text } from '../../config/schema.ts'
import { isUserName, LONGEST_NAME, USER_NAME, userName } from '../sign-in/user-name.ts'

const LONGEST_PASSWORD = 500
const SHORTEST_PASSWORD = 10

/** Any text that may be a password, or a name that somebody tries: what it is made of is not looked at. */
export const password = describedAs(
  v.pipe(
    v.string('expected a text'),
    v.minLength(1, 'is empty'),
    v.check(value => !isLonger(value, LONGEST_PASSWORD), `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: 1, maxLength: LONGEST_PASSWORD },
)

/** A password that is chosen now: long, of any characters (NIST SP 800-63B, section 5.1.1.2). */
export const newPassword = describedAs(
  v.pipe(
    v.string('expected a text'),
    v.check(value => [...value].length >= SHORTEST_PASSWORD, `has fewer than ${SHORTEST_PASSWORD} characters`),
    v.check(value => !isLonger(value, LONGEST_PASSWORD), `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD },
)

/** The name of a new user, which is checked as it is stored: in normal form NFKC and lower case, without space around it. */
export const newUserName = v.pipe(
  describedAs(text(LONGEST_NAME), {
    ...{ type: 'string', minLength: 1, maxLength: LONGEST_NAME },
    pattern: USER_NAME.source.replace('^', '^\\s*').replace('$', '\\s*$'),
  }),
  v.transform(userName),
  v.check(isUserName, 'begins with a letter or a digit, and has letters, digits, spaces and . _ @ + - ( )'),
)

export const role = oneOf(['admin', 'viewer'])

import * as v from 'valibot'
import { describedAs, isLonger, oneOf, text } from '../../config/schema.ts'
import { isUserName, LONGEST_NAME, USER_NAME, userName } from '../sign-in/user-name.ts'

const LONGEST_PASSWORD = 500
const SHORTEST_PASSWORD = 10

/** A password or user name as typed at sign-in; only its length is checked. */
export const password = describedAs(
  v.pipe(
    v.string('expected a string'),
    v.minLength(1, 'is empty'),
    v.check(value => !isLonger(value, LONGEST_PASSWORD), `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: 1, maxLength: LONGEST_PASSWORD },
)

/** A newly chosen password: any characters, with a minimum length (NIST SP 800-63B, section 5.1.1.2). */
export const newPassword = describedAs(
  v.pipe(
    v.string('expected a string'),
    v.check(value => [...value].length >= SHORTEST_PASSWORD, `has fewer than ${SHORTEST_PASSWORD} characters`),
    v.check(value => !isLonger(value, LONGEST_PASSWORD), `has more than ${LONGEST_PASSWORD} characters`),
  ),
  { type: 'string', minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD },
)

/** The name of a new user, trimmed and normalized (NFKC, lower case) before it is checked. */
export const newUserName = v.pipe(
  describedAs(text(LONGEST_NAME), {
    ...{ type: 'string', minLength: 1, maxLength: LONGEST_NAME },
    pattern: USER_NAME.source.replace('^', '^\\s*').replace('$', '\\s*$'),
  }),
  v.transform(userName),
  v.check(isUserName, 'must start with a letter or digit and contain only letters, digits, spaces and . _ @ + - ( )'),
)

export const role = oneOf(['admin', 'viewer'])

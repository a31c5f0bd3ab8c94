import * as v from 'valibot'
import { describedAs, isLonger, oneOf, text } from '../../config/schema.ts'
import { isUserName, MAX_NAME_LENGTH, USER_NAME, userName } from '../sign-in/user-name.ts'

const MAX_PASSWORD_LENGTH = 500
const MIN_PASSWORD_LENGTH = 10

/** A password or user name as typed at sign-in. Only its length is checked. */
export const password = describedAs(
  v.pipe(
    v.string('expected a string'),
    v.minLength(1, 'is empty'),
    v.check(value => !isLonger(value, MAX_PASSWORD_LENGTH), `has more than ${MAX_PASSWORD_LENGTH} characters`),
  ),
  { type: 'string', minLength: 1, maxLength: MAX_PASSWORD_LENGTH },
)

/** A newly chosen password: any characters, with a minimum length (NIST SP 800-63B, section 5.1.1.2). */
export const newPassword = describedAs(
  v.pipe(
    v.string('expected a string'),
    v.check(value => [...value].length >= MIN_PASSWORD_LENGTH, `has fewer than ${MIN_PASSWORD_LENGTH} characters`),
    v.check(value => !isLonger(value, MAX_PASSWORD_LENGTH), `has more than ${MAX_PASSWORD_LENGTH} characters`),
  ),
  { type: 'string', minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH },
)

/** The name of a new user, trimmed and normalized (NFKC, lower case) before it is checked. */
export const newUserName = v.pipe(
  describedAs(text(MAX_NAME_LENGTH), {
    ...{ type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH },
    pattern: USER_NAME.source.replace('^', '^\\s*').replace('$', '\\s*$'),
  }),
  v.transform(userName),
  v.check(isUserName, 'must start with a letter or digit and contain only letters, digits, spaces and . _ @ + - ( )'),
)

export const role = oneOf(['admin', 'viewer'])

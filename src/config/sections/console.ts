import * as v from 'valibot'
import { optional, required, withValueKind } from '../setting.ts'
import { expects, expectsKind, fields, secret, text, texts, wait } from '../values.ts'

/** The issuer's URL. Plain HTTP is allowed only on this machine, because secrets are sent to it. */
const issuer = withValueKind(
  'https address',
  v.pipe(
    text,
    v.trim(),
    v.check(
      value =>
        URL.canParse(value) && /^https:\/\/[^?#]+$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/][^?#]*$/.test(value),
      expects('an https address'),
    ),
  ),
)

const roles = fields({
  admin: optional(texts, 'Claim values that make a user an administrator.'),
  viewer: optional(texts, 'Claim values that make a user a viewer.'),
})

const oidc = fields({
  issuer: required(issuer, 'URL of the provider.'),
  client_id: required(text, 'Id of this gateway at the provider.'),
  client_secret: required(secret, 'Secret of this gateway at the provider.'),
  name: optional(text, "Name on the button. The issuer's host by default."),
  scopes: optional(texts, 'Requested scopes.', ['openid', 'profile', 'email']),
  claim: optional(text, "Claim with the user's roles or groups; `realm_access.roles` is a nested one.", 'groups'),
  roles: required(roles, 'Roles of users. A user without any is refused.'),
})

const switchedOff = v.pipe(
  v.union([v.literal(false), v.picklist(['false', 'off'])]),
  v.transform(() => false as const),
)

const settings = fields({
  session: optional(wait('1m'), 'Maximum duration of a sign-in session.', '12h'),
  idle: optional(wait('1m'), 'Maximum time without an action of the user.', '1h'),
  oidc: optional(oidc, 'Sign-in at an OpenID Connect provider, at `PUBLIC_URL/admin/v1/session/oidc/callback`.'),
})

/** The console, or false to switch it off. */
export const console = v.union([settings, withValueKind('`false`', switchedOff)], expectsKind('a map, or false'))

import type { Access } from './endpoints.ts'

/** Who sends a request. */
export type PrincipalName =
  | 'nobody'
  | 'unknown-key'
  | 'revoked-key'
  | 'expired-key'
  | 'disabled-key'
  | 'key-of-other-format'
  | 'key-of-other-group'
  | 'owner'
  | 'client-secret'
  | 'viewer-session'
  | 'viewer-session-without-csrf'
  | 'admin-session'
  | 'admin-session-without-csrf'
  | 'expired-admin-token'
  | 'admin-token'

/**
 * The verdict on a request: the gateway does not know its sender (401), refuses the sender (403), hides the object of
 * another key (404), or serves the sender, which may still be answered with an error about the request itself.
 */
export type Verdict = 'unknown' | 'refused' | 'hidden' | 'served'

type Rules = { readonly [P in PrincipalName]: Verdict }

/** Senders that hold no key of a caller: no endpoint of callers knows them. */
const NO_CALLERS = {
  nobody: 'unknown',
  'unknown-key': 'unknown',
  'revoked-key': 'unknown',
  'expired-key': 'unknown',
  'disabled-key': 'unknown',
  'client-secret': 'unknown',
  'viewer-session': 'unknown',
  'viewer-session-without-csrf': 'unknown',
  'admin-session': 'unknown',
  'admin-session-without-csrf': 'unknown',
  'expired-admin-token': 'unknown',
  'admin-token': 'unknown',
} as const satisfies Partial<Rules>

/** Senders that are no operators. The gateway tells the holder of a caller's key that the key is of the wrong kind. */
const NO_OPERATORS = {
  nobody: 'unknown',
  'unknown-key': 'unknown',
  'revoked-key': 'unknown',
  'expired-key': 'refused',
  'disabled-key': 'refused',
  'client-secret': 'unknown',
  'expired-admin-token': 'unknown',
  'key-of-other-format': 'refused',
  'key-of-other-group': 'refused',
  owner: 'refused',
  'viewer-session-without-csrf': 'refused',
  'admin-session-without-csrf': 'refused',
} as const satisfies Partial<Rules>

const CALLERS = { 'key-of-other-format': 'refused', 'key-of-other-group': 'served', owner: 'served' } as const
const VIEWERS = { 'viewer-session': 'served' } as const
const ADMINS = { 'admin-session': 'served', 'admin-token': 'served' } as const
/** Pages of other origins cannot read an answer, so that requests that only read need no CSRF token. */
const WITHOUT_CSRF = { 'viewer-session-without-csrf': 'served', 'admin-session-without-csrf': 'served' } as const

/** The verdict for each sender, by kind of access. */
export const RULES: { readonly [A in Access]: Rules } = {
  call: { ...NO_CALLERS, ...CALLERS },
  voice: { ...NO_CALLERS, ...CALLERS, 'client-secret': 'served' },
  models: { ...NO_CALLERS, ...CALLERS, 'key-of-other-format': 'served' },
  object: { ...NO_CALLERS, ...CALLERS, 'key-of-other-group': 'hidden' },
  view: { ...NO_OPERATORS, ...VIEWERS, ...ADMINS, ...WITHOUT_CSRF },
  'admin-view': {
    ...NO_OPERATORS,
    ...ADMINS,
    'viewer-session': 'refused',
    'viewer-session-without-csrf': 'refused',
    'admin-session-without-csrf': 'served',
  },
  action: { ...NO_OPERATORS, ...VIEWERS, ...ADMINS },
  'admin-action': { ...NO_OPERATORS, ...ADMINS, 'viewer-session': 'refused' },
  metrics: {
    ...NO_CALLERS,
    'key-of-other-format': 'unknown',
    'key-of-other-group': 'unknown',
    owner: 'unknown',
    'admin-token': 'served',
  },
  public: {
    ...Object.fromEntries(Object.keys({ ...NO_CALLERS, ...NO_OPERATORS }).map(name => [name, 'served'])),
  } as Rules,
}

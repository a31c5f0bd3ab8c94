import * as v from 'valibot'
import { defined } from '../../../canonical/node.ts'
import { fields, word, yesOrNo } from '../../../config/schema.ts'
import { USER_AUDIT } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { allOf, NEW_USER, PASSWORD, USER } from '../shapes.ts'
import { newPassword, newUserName, role } from '../user-fields.ts'
import { userView } from '../views.ts'

const name = fields({ name: word })

const listUsers = endpoint({
  ...{ method: 'get', path: '/users', operation: 'listUsers', role: 'admin' },
  summary: 'Lists the console users by name.',
  answer: allOf(USER),
  handle: async ({ users }) => ({ data: (await users.records.users()).map(userView) }),
})

const getUser = endpoint({
  ...{ method: 'get', path: '/users/{name}', operation: 'getUser', role: 'admin' },
  summary: 'Returns a user.',
  params: name,
  answer: USER,
  problems: ['not-found'],
  handle: async ({ users }, { params }) => userView((await users.records.user(params.name)) ?? throwUnknownUser()),
})

const createUser = endpoint({
  ...{ method: 'post', path: '/users', operation: 'createUser' },
  audit: 'user',
  summary: 'Creates a user. Without a password, generates one; only this answer contains it.',
  body: fields({ name: newUserName, role: v.optional(role), password: v.optional(newPassword) }),
  status: 201,
  answer: NEW_USER,
  problems: ['name-taken'],
  location: user => `/users/${encodeURIComponent(user.name)}`,
  handle: async ({ users, log }, { body }, principal, recording) => {
    const created = await users.add(body.name, body.role ?? 'viewer', body.password, recording(USER_AUDIT))
    if (created === undefined) throw new Problem('name-taken', 'A user with this name already exists.')
    log.info({ user: created.user.name, role: created.user.role, by: principal.name }, 'user added')
    return { ...userView(created.user), ...(body.password === undefined ? { password: created.password } : {}) }
  },
})

const changeUser = endpoint({
  ...{ method: 'patch', path: '/users/{name}', operation: 'changeUser' },
  audit: 'user',
  summary:
    'Changes the role of a user, or enables or disables the user. Disabling a user also ends all sessions of the user.',
  params: name,
  body: fields({ role: v.optional(role), enabled: v.optional(yesOrNo) }),
  answer: USER,
  problems: ['not-found', 'read-only', 'last-admin'],
  handle: async ({ users, log }, { params, body }, principal, recording) => {
    if (body.role !== undefined && (await users.records.user(params.name))?.source === 'oidc')
      throw new Problem('read-only', OIDC_ROLE)
    const changed = await users.records.changeUser(params.name, defined(body), undefined, recording(USER_AUDIT))
    if (changed === 'last-admin') throw LAST_ADMIN
    if (changed === undefined) throw throwUnknownUser()
    log.info({ user: changed.name, ...body, by: principal.name }, 'user changed')
    return userView(changed)
  },
})

const resetPassword = endpoint({
  ...{ method: 'post', path: '/users/{name}/password', operation: 'resetUserPassword' },
  audit: 'user',
  summary:
    'Sets a new random password; only this answer contains it. Ends all sessions of the user and removes a lockout.',
  params: name,
  answer: PASSWORD,
  problems: ['not-found', 'read-only'],
  handle: async ({ users, log }, { params }, principal, recording) => {
    const password = await users.resetPassword(params.name, recording(USER_AUDIT))
    if (password === 'unknown') throw throwUnknownUser()
    if (password === 'oidc') throw new Problem('read-only', OIDC_PASSWORD)
    log.info({ user: params.name, by: principal.name }, 'password reset')
    return { password: password.text }
  },
})

const endSessions = endpoint({
  ...{ method: 'delete', path: '/users/{name}/sessions', operation: 'endUserSessions' },
  audit: 'user',
  summary: 'Ends all sessions of a user.',
  params: name,
  problems: ['not-found'],
  handle: async ({ users }, { params }, _, recording) => {
    const ended = await users.records.endSignInSessions(params.name, recording(USER_AUDIT))
    if (ended === undefined) throw throwUnknownUser()
    return {}
  },
})

const deleteUser = endpoint({
  ...{ method: 'delete', path: '/users/{name}', operation: 'deleteUser' },
  audit: 'user',
  summary: 'Deletes a user and ends all sessions of the user. The last enabled admin cannot be deleted.',
  params: name,
  problems: ['not-found', 'last-admin'],
  handle: async ({ users, log }, { params }, principal, recording) => {
    const dropped = await users.records.dropUser(params.name, recording(USER_AUDIT))
    if (dropped === 'unknown') throw throwUnknownUser()
    if (dropped === 'last-admin') throw LAST_ADMIN
    log.info({ user: params.name, by: principal.name }, 'user deleted')
    return {}
  },
})

const OIDC_ROLE = 'The identity provider of this user determines the role.'
const OIDC_PASSWORD = 'This user signs in through the identity provider and has no password here.'
const LAST_ADMIN = new Problem(
  'last-admin',
  'This is the last enabled admin; without it, nobody could administer the gateway.',
)

const throwUnknownUser = (): never => {
  throw new Problem('not-found', 'There is no such user.')
}

/** Endpoints for console users: list, create, read, change, delete, reset password, end sessions. */
export const USERS = [listUsers, createUser, getUser, changeUser, deleteUser, resetPassword, endSessions]

import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { freshSecret } from '../../../accounts/secret.ts'
import { defined } from '../../../canonical/node.ts'
import { fields, flag, text, time, word } from '../../../config/schema.ts'
import type { AdminToken } from '../../../store/access-records.ts'
import { TOKEN_AUDIT } from '../audit.ts'
import { endpoint } from '../endpoint.ts'
import { Problem } from '../problem.ts'
import { allOf, NEW_TOKEN, TOKEN } from '../shapes.ts'
import { tokenView } from '../views.ts'

const listTokens = endpoint({
  method: 'get',
  path: '/tokens',
  operation: 'listTokens',
  summary: 'Lists the admin tokens, oldest first.',
  answer: allOf(TOKEN),
  handle: async ({ records }) => ({ data: (await records.tokens()).map(tokenView) }),
})

const createToken = endpoint({
  method: 'post',
  path: '/tokens',
  operation: 'createToken',
  audit: 'token',
  summary: 'Creates a token for the admin API. Only this answer contains its secret.',
  body: fields({ name: text(), expires_at: v.nullish(time) }),
  status: 201,
  answer: NEW_TOKEN,
  location: token => `/tokens/${token.id}`,
  handle: async ({ records }, { body: { name, expires_at: expiresAt } }, _, recording) => {
    const { text, secret } = freshSecret('iladm', Date.now())
    const id = randomUUID().replaceAll('-', '')
    const token: AdminToken = { id, name, ...secret, ...defined({ expiresAt: expiresAt ?? undefined }) }
    await records.addToken(token, recording(TOKEN_AUDIT))
    return { ...tokenView(token), secret: text }
  },
})

const revokeToken = endpoint({
  method: 'delete',
  path: '/tokens/{id}',
  operation: 'revokeToken',
  audit: 'token',
  summary: 'Revokes a token. With `force`, also the last one; only the command line can create another then.',
  params: fields({ id: word }),
  query: fields({ force: flag }),
  problems: ['not-found', 'in-use'],
  handle: async ({ records }, { params, query: { force } }, _, recording) => {
    const dropped = await records.dropToken(params.id, force, recording(TOKEN_AUDIT))
    if (dropped === 'unknown') throw new Problem('not-found', 'There is no such token.')
    if (dropped === 'last') throw new Problem('in-use', 'This is the last valid token; use force to revoke it anyway.')
    return {}
  },
})

/** Endpoints for admin tokens: list, create, revoke. */
export const TOKENS = [listTokens, createToken, revokeToken]

import { randomBytes } from 'node:crypto'
import { freshSecret } from '../accounts/secret.ts'
import { TOKEN_AUDIT } from '../operators/admin/audit.ts'
import { recordingFor } from './audited.ts'
import { program, type Terminal } from './outcome.ts'
import { minute, table } from './table.ts'
import { configAt, readRecords, withStore } from './with-store.ts'

/**
 * `interlingua admin token`: creates a token for the admin API. Prints it alone on a line, so that scripts can read it.
 */
export async function tokenCommand(
  name: string,
  { expires }: { readonly expires?: number },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const { text, secret } = freshSecret('iladm', Date.now())
  const expiry = expires === undefined ? {} : { expiresAt: expires }
  const config = configAt(file)
  const token = { ...secret, ...expiry, id: randomBytes(6).toString('hex'), name }
  const entryOf = recordingFor(config, 'createToken')(TOKEN_AUDIT)
  await withStore(config, store => store.access.addToken(token, entryOf))
  terminal.out(text)
  terminal.fault('Save this token now: only its hash is stored. It has full access to the admin API.')
}

/** `interlingua admin tokens`: lists the admin tokens, one per line. */
export async function tokensCommand(file: string | undefined, terminal: Terminal): Promise<void> {
  const tokens = (await readRecords(configAt(file), records => records.tokens())) ?? []
  if (tokens.length === 0) return terminal.fault(`There are no tokens yet; \`${program()} admin token\` creates one.`)
  const rows = tokens.map(({ id, name, prefix, lastFour, createdAt, expiresAt }) => [
    ...[id, name, `${prefix}…${lastFour}`, minute(createdAt)],
    minute(expiresAt) || 'never',
  ])
  terminal.out(table([['ID', 'NAME', 'TOKEN', 'CREATED', 'EXPIRES'], ...rows]))
}

/** `interlingua admin revoke ID`: revokes an admin token. */
export async function revokeTokenCommand(id: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  const entryOf = recordingFor(config, 'revokeToken')(TOKEN_AUDIT)
  const dropped = await withStore(config, store => store.access.dropToken(id, true, entryOf))
  if (dropped !== 'done') throw new Error(`there is no token "${id}"; \`${program()} admin tokens\` lists them`)
  terminal.out(`${id} is revoked.`)
}

import { randomBytes } from 'node:crypto'
import { freshSecret } from '../accounts/secret.ts'
import { append } from '../canonical/lists.ts'
import { defined } from '../canonical/node.ts'
import { suggestion } from '../config/faults.ts'
import type { Config } from '../config/index.ts'
import type { KeySettings } from '../config/types.ts'
import { KEY_AUDIT } from '../operators/admin/audit.ts'
import type { AccessRecords, KeyChange, StoredKey } from '../store/access-records.ts'
import { recordingFor } from './audited.ts'
import { fixedRow, fixedView, KEY_COLUMNS, storedRow, storedView } from './key-views.ts'
import { program, type Terminal } from './outcome.ts'
import { checkName, limitsWith, type OptionValue, type PermissionOptions, valueAfter } from './permission-options.ts'
import { table } from './table.ts'
import { configAt, readRecords, withStore } from './with-store.ts'

export interface KeyOptions extends PermissionOptions {
  readonly group?: string
  readonly note?: OptionValue<string>
  readonly expires?: OptionValue<number>
  readonly name?: string
  readonly enable?: true
  readonly disable?: true
}

/** `interlingua keys create NAME`: creates a key. Prints it alone on a line, so that scripts can read it. */
export async function createCommand(name: string, options: KeyOptions, file: string | undefined, terminal: Terminal) {
  const config = configAt(file)
  checkName(name)
  checkNotFixed(name, config)
  const { group = 'default' } = options
  const secret = await withStore(config, async store => {
    await checkGroup(group, config, store.access)
    const { text, stored } = newKey(name, group, settingsWith({ limits: {}, enabled: true }, options))
    const entryOf = recordingFor(config, 'createKey')(KEY_AUDIT)
    if (!(await store.access.createKey(stored, !config.groups.has(group), entryOf))) {
      // The group may have been deleted since it was checked.
      await checkGroup(group, config, store.access)
      throw nameTakenError(name)
    }
    return text
  })
  terminal.out(secret)
  terminal.fault('Save this key now: only its hash is stored.')
}

/** `interlingua keys change NAME`: changes the given settings of a key. */
export async function changeCommand(name: string, options: KeyOptions, file: string | undefined, terminal: Terminal) {
  const config = configAt(file)
  await withStore(config, async store => {
    const records = store.access
    const key = await storedKeyNamed(name, config, records)
    if (options.group !== undefined) await checkGroup(options.group, config, records)
    if (options.name !== undefined) {
      checkName(options.name)
      checkNotFixed(options.name, config)
    }
    const needsGroup = options.group !== undefined && !config.groups.has(options.group)
    const entryOf = recordingFor(config, 'changeKey')(KEY_AUDIT)
    const changed = await records.changeKey(key.id, now => changeOf(now, options), needsGroup, entryOf)
    if (changed === 'taken') throw nameTakenError(options.name!)
    if (changed === undefined) {
      if (options.group !== undefined) await checkGroup(options.group, config, records)
      throw missingKeyError(name)
    }
  })
  terminal.out(`Changed ${options.name ?? name}.`)
}

/** `interlingua keys revoke NAME`: revokes a key permanently. */
export async function revokeCommand(name: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  await withStore(config, async store => {
    const key = await storedKeyNamed(name, config, store.access)
    const entryOf = recordingFor(config, 'revokeKey')(KEY_AUDIT)
    if (!(await store.access.revokeKey(key.id, Date.now(), entryOf))) throw missingKeyError(name)
  })
  terminal.out(`Revoked ${name}.`)
}

/**
 * `interlingua keys rotate NAME`: replaces a key's secret and prints the new one. The old secret works for another
 * `grace` milliseconds.
 */
export async function rotateCommand(name: string, grace: number, file: string | undefined, terminal: Terminal) {
  const config = configAt(file)
  const now = Date.now()
  const { text, secret } = freshSecret('il', now)
  await withStore(config, async store => {
    const key = await storedKeyNamed(name, config, store.access)
    const entryOf = recordingFor(config, 'rotateKey')(KEY_AUDIT)
    if ((await store.access.rotateKey(key.id, secret, now + grace, entryOf)) === undefined) throw missingKeyError(name)
  })
  terminal.out(text)
  const until = grace === 0 ? 'no longer works' : `works until ${new Date(now + grace).toISOString()}`
  terminal.fault(`The old key ${until}. Save the new key now: it cannot be shown again.`)
}

/** Keys read per page. */
const PAGE_SIZE = 1000

/** `interlingua keys list`: prints the keys of the config and the store, one per line or as JSON. */
export async function listCommand(
  { json = false, all = false }: { readonly json?: boolean; readonly all?: boolean },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const config = configAt(file)
  const stored = (await readRecords(config, records => allKeys(records, all))) ?? []
  if (json) return terminal.out(JSON.stringify([...config.keys.map(fixedView), ...stored.map(storedView)], null, 2))
  const now = Date.now()
  const rows = [...config.keys.map(fixedRow), ...stored.map(key => storedRow(key, now))]
  if (rows.length === 0) terminal.fault(`There are no keys yet; \`${program()} keys create NAME\` creates one.`)
  else terminal.out(table([KEY_COLUMNS, ...rows]))
}

/** `interlingua keys show NAME`: prints one key as JSON, without secrets. */
export async function showCommand(name: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  const stored = await readRecords(config, records => records.keyNamed(name))
  const fixed = config.keys.find(key => key.name === name)
  if (stored === undefined && fixed === undefined)
    throw missingKeyError(
      name,
      config.keys.map(key => key.name),
    )
  terminal.out(JSON.stringify(stored === undefined ? fixedView(fixed!) : storedView(stored), null, 2))
}

async function allKeys(records: AccessRecords, revoked: boolean): Promise<StoredKey[]> {
  const keys: StoredKey[] = []
  for (;;) {
    const after = keys.at(-1)
    const page = await records.keys({ limit: PAGE_SIZE, revoked, ...(after === undefined ? {} : { after }) })
    append(keys, page.slice(0, PAGE_SIZE))
    if (page.length <= PAGE_SIZE) return keys
  }
}

/** Creates a key of 256 random bits, and the record to store for it. */
export function newKey(
  name: string,
  group: string,
  settings: KeySettings,
): { readonly text: string; readonly stored: StoredKey } {
  const createdAt = Date.now()
  const { text, secret } = freshSecret('il', createdAt)
  return {
    text,
    stored: { ...settings, id: randomBytes(16).toString('hex'), name, group, createdAt, secrets: [secret] },
  }
}

const settingsWith = (before: KeySettings, options: KeyOptions): KeySettings => ({
  limits: limitsWith(before.limits, options),
  enabled: options.disable === true ? false : options.enable === true ? true : before.enabled,
  ...defined({
    note: valueAfter(before.note, options.note),
    models: valueAfter(before.models, options.models),
    doors: valueAfter(before.doors, options.doors),
    onLoss: valueAfter(before.onLoss, options.onLoss),
    expiresAt: valueAfter(before.expiresAt, options.expires),
  }),
})

/** Returns all settings after a change. Removed settings are undefined. */
const changeOf = (key: StoredKey, options: KeyOptions): KeyChange => ({
  ...{ note: undefined, models: undefined, doors: undefined, onLoss: undefined, expiresAt: undefined },
  ...settingsWith(key, options),
  ...(options.group === undefined ? {} : { group: options.group }),
  ...(options.name === undefined ? {} : { name: options.name }),
})

/** Returns the stored key with that name. Throws if there is none, or if the key is defined in the config. */
async function storedKeyNamed(name: string, { keys }: Config, records: AccessRecords): Promise<StoredKey> {
  const key = await records.keyNamed(name)
  if (key !== undefined) return key
  if (keys.some(one => one.name === name)) throw fixedKeyError(name)
  const firstPage = await records.keys({ limit: PAGE_SIZE })
  throw missingKeyError(
    name,
    firstPage.map(one => one.name),
  )
}

/** Throws if the config has a key of that name, because lists and logs identify keys by name. */
function checkNotFixed(name: string, { keys }: Config): void {
  if (keys.some(key => key.name === name)) throw fixedKeyError(name)
}

async function checkGroup(name: string, { groups }: Config, records: AccessRecords): Promise<void> {
  const groupNames = new Set([...groups.keys(), ...(await records.groups()).map(group => group.name)])
  if (!groupNames.has(name))
    throw new Error(
      `there is no group "${name}"${suggestion(name, groupNames) || `; \`${program()} groups create ${name}\` creates it`}`,
    )
}

const fixedKeyError = (name: string): Error => new Error(`the key "${name}" is defined in the config: change it there`)
const nameTakenError = (name: string): Error => new Error(`a key named "${name}" already exists; rotate or revoke it`)
const missingKeyError = (name: string, names: readonly string[] = []): Error =>
  new Error(`there is no key named "${name}"${suggestion(name, names)}`)

import { activeKey, createKey, KeyError, keyFile, readKeys, revokeKey, rotateKey } from '../access/key-file.ts'
import { suggestion } from '../config/faults.ts'
import { findConfig, loadConfig } from '../config/file.ts'
import type { Config } from '../config/index.ts'
import { program, type Terminal } from './outcome.ts'

/** `interlingua keys create NAME`: the key is printed alone on its line, so that a script can read it. */
export function createCommand(name: string, group: string, config: string | undefined, terminal: Terminal): void {
  const loaded = loadConfig(findConfig(config))
  const { groups } = loaded
  if (!groups.has(group)) throw new Error(`there is no group "${group}"${suggestion(group, groups.keys())}`)
  terminal.out(createKey(fileFor(name, loaded), name, group))
  terminal.fault('Keep it: only its hash is stored, it cannot be shown again.')
}

/** Revokes a key and prints its replacement, only this once. */
export function rotateCommand(name: string, config: string | undefined, terminal: Terminal): void {
  terminal.out(rotateKey(fileFor(name, loadConfig(findConfig(config))), name))
  terminal.fault('The old key has ended. Keep this one: it cannot be shown again.')
}

/** Revokes a key. */
export function revokeCommand(name: string, config: string | undefined, terminal: Terminal): void {
  revokeKey(fileFor(name, loadConfig(findConfig(config))), name)
  terminal.out(`${name} is revoked.`)
}

/** The keys of the config and those of the key file, one a line. */
export function listCommand(config: string | undefined, terminal: Terminal): void {
  const { dataDir, keys } = loadConfig(findConfig(config))
  const fixed = keys.map(({ name, group }) => [name, group, '', 'fixed in the config'])
  const stored = readKeys(keyFile(dataDir)).map(({ name, group, hint, createdAt, revokedAt }) => [
    name,
    group,
    `${hint}…`,
    revokedAt === undefined ? `created ${createdAt}` : `revoked ${revokedAt}`,
  ])
  const rows = [...fixed, ...stored]
  if (rows.length === 0) terminal.fault(`There are no keys yet; \`${program()} keys create NAME\` creates one.`)
  else terminal.out(table([['NAME', 'GROUP', 'KEY', ''], ...rows]))
}

/**
 * The key file that holds the key of that name.
 *
 * @throws KeyError for a name in the config alone: limits are counted by name, so no other key may have it.
 */
function fileFor(name: string, { dataDir, keys }: Pick<Config, 'dataDir' | 'keys'>): string {
  const path = keyFile(dataDir)
  if (keys.some(key => key.name === name) && activeKey(readKeys(path), name) === undefined)
    throw new KeyError(`the key "${name}" is fixed in the config: change it there`)
  return path
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

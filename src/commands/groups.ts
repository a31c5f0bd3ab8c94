import { defined } from '../canonical/node.ts'
import { suggestion } from '../config/faults.ts'
import type { Config, GroupConfig } from '../config/index.ts'
import { GROUP_AUDIT } from '../operators/admin/audit.ts'
import type { AccessRecords, StoredGroup } from '../store/access-records.ts'
import { recordingFor } from './audited.ts'
import { limitsText } from './key-views.ts'
import type { Terminal } from './outcome.ts'
import { checkName, limitsWith, type PermissionOptions, valueAfter } from './permission-options.ts'
import { table } from './table.ts'
import { configAt, readRecords, withStore } from './with-store.ts'

/** `interlingua groups list`: prints the groups of the config and the store, one per line or as JSON. */
export async function listGroupsCommand(
  { json = false }: { readonly json?: boolean },
  file: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const config = configAt(file)
  const stored = (await readRecords(config, records => records.groups())) ?? []
  const configGroups = [...config.groups.values()].filter(
    ({ implied, name }) => !(implied && stored.some(one => one.name === name)),
  )
  const storedOnly = stored.filter(({ name }) => !configGroups.some(one => one.name === name))
  if (json)
    return terminal.out(
      JSON.stringify(
        [...configGroups.map(one => groupRecord(one, true)), ...storedOnly.map(one => groupRecord(one))],
        null,
        2,
      ),
    )
  const rows = [
    ...configGroups.map(one => groupRow(one, 'defined in the config')),
    ...storedOnly.map(one => groupRow(one, '')),
  ]
  terminal.out(table([['NAME', 'MODELS', 'DOORS', 'CHANNELS', 'LIMITS', ''], ...rows]))
}

/** `interlingua groups create NAME`: creates a group in the store. */
export async function createGroupCommand(
  name: string,
  options: PermissionOptions,
  file: string | undefined,
  terminal: Terminal,
) {
  const config = configAt(file)
  checkName(name)
  checkNotFixed(name, config)
  await withStore(config, async store => {
    const first = { name, models: ['*'], limits: {}, onLoss: 'show', createdAt: Date.now() } as const
    const created = await store.access.changeGroup(
      name,
      known => (known === undefined ? withChanges(first, options) : undefined),
      recordingFor(config, 'createGroup')(GROUP_AUDIT),
    )
    if (created === undefined) throw new Error(`a group named "${name}" already exists`)
  })
  terminal.out(`Created ${name}.`)
}

/** `interlingua groups change NAME`: changes the given settings of a stored group. */
export async function changeGroupCommand(
  name: string,
  options: PermissionOptions,
  file: string | undefined,
  terminal: Terminal,
) {
  const config = configAt(file)
  checkNotFixed(name, config)
  await withStore(config, async store => {
    const group = await store.access.changeGroup(
      name,
      known => known && withChanges(known, options),
      recordingFor(config, 'changeGroup')(GROUP_AUDIT),
    )
    if (group === undefined) throw await missingGroupError(name, store.access)
  })
  terminal.out(`Changed ${name}.`)
}

/** `interlingua groups drop NAME`: deletes a stored group. Its keys are refused afterwards. */
export async function dropGroupCommand(name: string, file: string | undefined, terminal: Terminal): Promise<void> {
  const config = configAt(file)
  await withStore(config, async store => {
    if (await store.access.dropGroup(name, false, recordingFor(config, 'deleteGroup')(GROUP_AUDIT))) return
    checkNotFixed(name, config)
    throw await missingGroupError(name, store.access)
  })
  terminal.out(`Dropped ${name}.`)
}

const withChanges = (before: StoredGroup, options: PermissionOptions): StoredGroup =>
  defined({
    ...before,
    limits: limitsWith(before.limits, options),
    models: valueAfter(before.models, options.models) ?? ['*'],
    onLoss: valueAfter(before.onLoss, options.onLoss) ?? 'show',
    doors: valueAfter(before.doors, options.doors),
    channels: valueAfter(before.channels, options.channels),
  })

const groupRow = ({ name, models, doors, channels, limits }: Omit<GroupConfig, 'implied'>, state: string): string[] => [
  ...[name, models.join(' '), doors?.join(' ') ?? 'all', channels?.join(' ') ?? 'all', limitsText(limits), state],
]

const groupRecord = (
  { name, models, doors, channels, limits, onLoss }: Omit<GroupConfig, 'implied'>,
  configGroups?: true,
): object => defined({ name, models, doors, channels, limits, on_loss: onLoss, fixed: configGroups })

function checkNotFixed(name: string, { groups }: Config): void {
  const group = groups.get(name)
  if (group !== undefined && group.implied !== true)
    throw new Error(`the group "${name}" is defined in the config: change it there`)
}

async function missingGroupError(name: string, records: AccessRecords): Promise<Error> {
  const names = (await records.groups()).map(group => group.name)
  return new Error(`there is no group "${name}" in the store${suggestion(name, names)}`)
}
